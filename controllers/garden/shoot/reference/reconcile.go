// SPDX-License-Identifier: Apache-2.0

package reference

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
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

const controllerName = "shoot-reference"

// Reconciler protects what shoots reference. It reads shoots around the cache before it releases an object, because an old list
// would release too many.
type Reconciler struct {
	kit.Base

	// Config is the section of the configuration.
	Config gardenconfigv1alpha1.ConcurrencyConfiguration
}

// AddToManager implements kit.Adder. A shoot is reconciled if its references change (GCM-SHOOTREF-5), or its finalizers: in
// deletion, the references are released once the gardenlet has removed its own.
func (r *Reconciler) AddToManager(clusters kit.Clusters) error {
	b := r.Controller(clusters, controllerName, kit.Workers(r.Config.ConcurrentSyncs)).
		For(&gardencorev1beta1.Shoot{}, builder.WithPredicates(kit.Changed(facts)))
	return kit.Complete(b, controllerName, reconcile.AsReconciler(r.Client, r))
}

func facts(shoot *gardencorev1beta1.Shoot) any {
	return []any{Of(shoot), shoot.Finalizers, shoot.DeletionTimestamp == nil}
}

const finalizer = gardencorev1beta1.FinalizerReferenceProtection

// Reconcile protects what one shoot references, and releases what no shoot of its namespace references any more.
func (r *Reconciler) Reconcile(ctx context.Context, shoot *gardencorev1beta1.Shoot) (reconcile.Result, error) {
	outcome, err := kit.Run(ctx, shoot, r.protect, r.release, r.letGo)
	return kit.Result(outcome, err)
}

// protect adds the finalizer to the shoot and to what it references (GCM-SHOOTREF-1). References to objects that do not exist
// are ignored.
func (r *Reconciler) protect(ctx context.Context, shoot *gardencorev1beta1.Shoot) (kit.Outcome, error) {
	references := Of(shoot)
	if shoot.DeletionTimestamp != nil || len(references) == 0 {
		return kit.Continue(), nil
	}
	if err := kit.EnsureFinalizer(ctx, r.Client, shoot, finalizer); err != nil {
		return kit.Stop(), err
	}
	var errs []error
	for _, reference := range references {
		object := &metav1.PartialObjectMetadata{}
		object.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(reference.Kind))
		err := r.Reader.Get(ctx, client.ObjectKey{Namespace: shoot.Namespace, Name: reference.Name}, object)
		if apierrors.IsNotFound(err) {
			continue
		}
		if err == nil && object.DeletionTimestamp == nil {
			err = client.IgnoreNotFound(kit.EnsureFinalizer(ctx, r.Client, object, finalizer))
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("protect %s %q: %w", reference.Kind, reference.Name, err))
		}
	}
	return kit.Continue(), errors.Join(errs...)
}

// release removes the finalizer from objects that no shoot references any more (GCM-SHOOTREF-3).
func (r *Reconciler) release(ctx context.Context, shoot *gardencorev1beta1.Shoot) (kit.Outcome, error) {
	if !controllerutil.ContainsFinalizer(shoot, finalizer) {
		return kit.Stop(), nil
	}
	shoots := &gardencorev1beta1.ShootList{}
	if err := r.Reader.List(ctx, shoots, client.InNamespace(shoot.Namespace)); err != nil {
		return kit.Stop(), fmt.Errorf("list shoots of namespace %q: %w", shoot.Namespace, err)
	}
	held := Held(shoots.Items)
	for _, kind := range []string{kindSecret, kindConfigMap} {
		objects := &metav1.PartialObjectMetadataList{}
		objects.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(kind + "List"))
		if err := r.Reader.List(ctx, objects, client.InNamespace(shoot.Namespace)); err != nil {
			return kit.Stop(), fmt.Errorf("list %ss of namespace %q: %w", kind, shoot.Namespace, err)
		}
		for i := range objects.Items {
			object := &objects.Items[i]
			if held[Reference{Kind: kind, Name: object.Name}] {
				continue
			}
			object.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(kind))
			if err := kit.DropFinalizer(ctx, r.Client, object, finalizer); err != nil {
				return kit.Stop(), err
			}
		}
	}
	return kit.Continue(), nil
}

// letGo removes the finalizer from a shoot without references, or at the end of its deletion (GCM-SHOOTREF-4).
func (r *Reconciler) letGo(ctx context.Context, shoot *gardencorev1beta1.Shoot) (kit.Outcome, error) {
	if Holds(shoot) && len(Of(shoot)) > 0 {
		return kit.Stop(), nil
	}
	return kit.Stop(), kit.DropFinalizer(ctx, r.Client, shoot, finalizer)
}
