// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"context"
	"fmt"
	"maps"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// Ensure creates the object, or updates it when mutate changes what is there, and reports whether it wrote. Only what
// mutate sets is enforced; the rest of an existing object stays.
func Ensure(ctx context.Context, c client.Client, object client.Object, mutate func() error) (bool, error) {
	done, err := controllerutil.CreateOrUpdate(ctx, c, object, mutate)
	if err != nil {
		return false, fmt.Errorf("ensure %T %q: %w", object, object.GetName(), err)
	}
	return done != controllerutil.OperationResultNone, nil
}

// Remove deletes the object. It succeeds if the object does not exist.
func Remove(ctx context.Context, c client.Client, object client.Object) error {
	if err := c.Delete(ctx, object); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete %T %q: %w", object, object.GetName(), err)
	}
	return nil
}

// EnsureFinalizer adds the finalizer if it is missing, and updates the object to what the server answered.
func EnsureFinalizer(ctx context.Context, c client.Client, object client.Object, finalizer string) error {
	return patchFinalizers(ctx, c, object, func() bool { return controllerutil.AddFinalizer(object, finalizer) }, "add finalizer "+finalizer)
}

// DropFinalizer removes the finalizer if it is there. It succeeds if the object does not exist.
func DropFinalizer(ctx context.Context, c client.Client, object client.Object, finalizer string) error {
	err := patchFinalizers(ctx, c, object, func() bool { return controllerutil.RemoveFinalizer(object, finalizer) }, "remove finalizer "+finalizer)
	return client.IgnoreNotFound(err)
}

// patchFinalizers locks on the resource version, because a merge patch replaces the whole list.
func patchFinalizers(ctx context.Context, c client.Client, object client.Object, mutate func() bool, verb string) error {
	before, _ := object.DeepCopyObject().(client.Object)
	if !mutate() {
		return nil
	}
	if err := c.Patch(ctx, object, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("%s of %q: %w", verb, object.GetName(), err)
	}
	return nil
}

// Live reads an object around the cache and reports whether it exists. A garden shows a seed only objects that belong to it,
// and forbids all others, including those that have just been deleted. So an object that is forbidden and not in the cache
// is gone.
func Live(ctx context.Context, live, cached client.Reader, key client.ObjectKey, object client.Object) (bool, error) {
	err := live.Get(ctx, key, object)
	if apierrors.IsForbidden(err) {
		if there := cached.Get(ctx, key, object); apierrors.IsNotFound(there) {
			return false, nil
		}
	}
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	return err == nil, err
}

// DeleteConfirmed deletes an object whose deletion has to be confirmed by an annotation, and confirms it. It fails with a
// conflict if the object is another one by now or has been changed since it was read, so read it, and decide, just before. An
// object that is gone is no error.
func DeleteConfirmed(ctx context.Context, c client.Client, object client.Object) error {
	commit := Begin(c, object)
	annotations := maps.Clone(object.GetAnnotations())
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[gardencorev1beta1.AnnotationConfirmationDeletion] = "true"
	object.SetAnnotations(annotations)
	if err := commit.WriteObject(ctx); err != nil {
		return client.IgnoreNotFound(err)
	}
	seen := client.Preconditions{UID: new(object.GetUID()), ResourceVersion: new(object.GetResourceVersion())}
	if err := c.Delete(ctx, object, seen); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete %T %q: %w", object, object.GetName(), err)
	}
	return nil
}
