// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// EnsureFinalizer adds the finalizer if it is missing. The object is brought to the state that the server answered.
func EnsureFinalizer(ctx context.Context, c client.Client, object client.Object, finalizer string) error {
	return patchFinalizers(ctx, c, object, func() bool { return controllerutil.AddFinalizer(object, finalizer) }, "add finalizer "+finalizer)
}

// DropFinalizer removes the finalizer if it is there. An object that is gone already is fine.
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
