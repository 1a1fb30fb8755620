// SPDX-License-Identifier: Apache-2.0

package reference

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// Reconciler protects what the objects of one kind refer to. It reads around the cache before it releases an object, because an
// old list would release too many, but only if the cache shows one that can be released.
type Reconciler struct {
	kit.Base

	// Holder is the kind. It must be set.
	Holder Holder
	// Config is the section of the configuration.
	Config gardenconfigv1alpha1.ConcurrencyConfiguration
}

// AddToManager implements kit.Adder. An object is reconciled if its references change (GCM-SHOOTREF-5), or its finalizers: in
// deletion, the references are released once nobody needs them any more.
func (r *Reconciler) AddToManager(clusters kit.Clusters) error {
	facts := func(object client.Object) any {
		return []any{r.Holder.Of(object), object.GetFinalizers(), object.GetDeletionTimestamp() == nil}
	}
	b := r.Controller(clusters, r.Holder.Name, kit.Workers(r.Config.ConcurrentSyncs)).
		For(r.Holder.Object, builder.WithPredicates(kit.Changed(facts)))
	return kit.Complete(b, r.Holder.Name, r)
}

const (
	finalizer = gardencorev1beta1.FinalizerReferenceProtection
	// settled is the time after which the cache shows what was protected.
	settled = 5 * time.Second
	// missing is the time after which an object that a reference names, and that is not there, is looked for again. Objects are not
	// watched for that: each Secret of a garden would be compared with all references.
	missing = 10 * time.Second
)

// Reconcile protects what one object refers to, and releases what nobody refers to any more.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	object, _ := r.Holder.Object.DeepCopyObject().(client.Object)
	if err := r.Client.Get(ctx, request.NamespacedName, object); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	outcome, err := kit.Run(ctx, object, r.protect, r.release, r.letGo)
	return kit.Result(outcome, err)
}

// protect adds the finalizer to the object and to what it refers to (GCM-SHOOTREF-1). What does not exist yet gets it when it does. When an
// object has got the finalizer, another pass follows: the reference may go before the cache shows that there is something to release.
func (r *Reconciler) protect(ctx context.Context, object client.Object) (kit.Outcome, error) {
	if object.GetDeletionTimestamp() != nil || !r.refers(object) {
		return kit.Continue(), nil
	}
	if err := kit.EnsureFinalizer(ctx, r.Client, object, finalizer); err != nil {
		return kit.Stop(), err
	}
	var added, absent bool
	var errs []error
	for _, reference := range r.Holder.Of(object) {
		found, err := r.hold(ctx, r.Holder.namespace(object), reference)
		added, absent = added || found == marked, absent || found == gone
		errs = append(errs, err)
	}
	outcome := kit.Continue()
	switch {
	case added:
		outcome = kit.RecheckAfter(settled)
	case absent:
		outcome = kit.RecheckAfter(missing)
	}
	return outcome, errors.Join(errs...)
}

// refers reports whether an object needs anything that it refers to.
func (r *Reconciler) refers(object client.Object) bool {
	return r.Holder.Holds(object) && len(r.Holder.Of(object)) > 0
}

// finding is what hold has found.
type finding int

const (
	// kept had the finalizer.
	kept finding = iota
	// marked has got it.
	marked
	// gone is not there, or will not be for long. One in deletion does not get the finalizer (GCM-SHOOTREF-3).
	gone
)

// hold adds the finalizer to one object.
func (r *Reconciler) hold(ctx context.Context, namespace string, reference Reference) (finding, error) {
	found := reference.empty()
	err := r.Reader.Get(ctx, client.ObjectKey{Namespace: namespace, Name: reference.Name}, found)
	switch {
	case err != nil:
	case found.DeletionTimestamp != nil:
		return gone, nil
	case controllerutil.ContainsFinalizer(found, finalizer):
		return kept, nil
	default:
		err = kit.EnsureFinalizer(ctx, r.Client, found, finalizer)
	}
	if apierrors.IsNotFound(err) {
		return gone, nil
	}
	if err != nil {
		return kept, fmt.Errorf("protect %s %q: %w", reference.Kind, reference.Name, err)
	}
	return marked, nil
}

// release removes the finalizer from objects to which nobody refers any more (GCM-SHOOTREF-3). Nearly always there are none, which
// the cache tells without lists of all that is in the namespace. For an object that lets go it is asked in any case, because no other
// pass follows.
func (r *Reconciler) release(ctx context.Context, object client.Object) (kit.Outcome, error) {
	if !controllerutil.ContainsFinalizer(object, finalizer) {
		return kit.Stop(), nil
	}
	if r.refers(object) {
		seem, err := r.idle(ctx, r.Client, object)
		if err != nil || len(seem) == 0 {
			return kit.Continue(), err
		}
	}
	idle, err := r.idle(ctx, r.Reader, object)
	if err != nil {
		return kit.Stop(), err
	}
	return kit.Continue(), r.free(ctx, r.Holder.namespace(object), idle)
}

// idle returns the protected objects in the namespace of the references of an object to which nobody refers, as a reader sees them.
func (r *Reconciler) idle(ctx context.Context, from client.Reader, object client.Object) (map[Reference]*metav1.PartialObjectMetadata, error) {
	namespace := r.Holder.namespace(object)
	idle, err := protected(ctx, from, namespace)
	if err != nil {
		return nil, err
	}
	if r.Holder.Holds(object) {
		for _, reference := range r.Holder.Of(object) {
			delete(idle, reference)
		}
	}
	if len(idle) == 0 {
		return idle, nil
	}
	needed, err := held(ctx, from, namespace)
	if err != nil {
		return nil, err
	}
	maps.DeleteFunc(idle, func(reference Reference, _ *metav1.PartialObjectMetadata) bool { return needed[reference] })
	return idle, nil
}

// free removes the finalizer from some objects. One that somebody has begun to refer to meanwhile gets it back: the pass that
// protects it may have found it protected and written nothing.
func (r *Reconciler) free(ctx context.Context, namespace string, idle map[Reference]*metav1.PartialObjectMetadata) error {
	if len(idle) == 0 {
		return nil
	}
	for _, found := range idle {
		if err := kit.DropFinalizer(ctx, r.Client, found, finalizer); err != nil {
			return err
		}
	}
	needed, err := held(ctx, r.Reader, namespace)
	if err != nil {
		return err
	}
	var errs []error
	for reference := range idle {
		if needed[reference] {
			_, err := r.hold(ctx, namespace, reference)
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// protected returns the objects of a namespace that have the finalizer. They are shared with the cache if it is the reader.
func protected(ctx context.Context, from client.Reader, namespace string) (map[Reference]*metav1.PartialObjectMetadata, error) {
	all := map[Reference]*metav1.PartialObjectMetadata{}
	for _, kind := range kinds() {
		objects := &metav1.PartialObjectMetadataList{}
		objects.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
		if err := from.List(ctx, objects, client.InNamespace(namespace), client.UnsafeDisableDeepCopy); err != nil {
			return nil, fmt.Errorf("list %ss of namespace %q: %w", kind.Kind, namespace, err)
		}
		for i := range objects.Items {
			found := &objects.Items[i]
			if controllerutil.ContainsFinalizer(found, finalizer) {
				found.SetGroupVersionKind(kind)
				all[Reference{Kind: kind.Kind, Name: found.Name}] = found
			}
		}
	}
	return all, nil
}

// held returns what all kinds of holders need in a namespace.
func held(ctx context.Context, from client.Reader, namespace string) (map[Reference]bool, error) {
	all := map[Reference]bool{}
	for _, holder := range Holders() {
		in := []client.ListOption{client.UnsafeDisableDeepCopy}
		switch holder.Namespace {
		case "":
			in = append(in, client.InNamespace(namespace))
		case namespace:
		default:
			continue
		}
		list, _ := holder.List.DeepCopyObject().(client.ObjectList)
		if err := from.List(ctx, list, in...); err != nil {
			return nil, fmt.Errorf("list %T: %w", list, err)
		}
		needed, err := holder.Held(list)
		if err != nil {
			return nil, fmt.Errorf("read %T: %w", list, err)
		}
		maps.Copy(all, needed)
	}
	return all, nil
}

// letGo removes the finalizer from an object without references, or at the end of its deletion (GCM-SHOOTREF-4).
func (r *Reconciler) letGo(ctx context.Context, object client.Object) (kit.Outcome, error) {
	if r.refers(object) {
		return kit.Stop(), nil
	}
	return kit.Stop(), kit.DropFinalizer(ctx, r.Client, object, finalizer)
}
