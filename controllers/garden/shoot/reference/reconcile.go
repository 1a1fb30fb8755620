// SPDX-License-Identifier: Apache-2.0

package reference

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const finalizer = gardencorev1beta1.FinalizerReferenceProtection

// Reconcile protects what one shoot references, and releases what no shoot of its namespace references any more.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	shoot := &gardencorev1beta1.Shoot{}
	if err := r.Client.Get(ctx, request.NamespacedName, shoot); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	outcome, err := kit.Run(ctx, shoot, r.protect, r.release, r.letGo)
	return kit.Result(outcome, err)
}

// protect is GCM-SHOOTREF-1. A referenced object that does not exist is not this controller's problem.
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
		object := metadata(reference.Kind)
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

// release is GCM-SHOOTREF-3.
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

// letGo is GCM-SHOOTREF-4.
func (r *Reconciler) letGo(ctx context.Context, shoot *gardencorev1beta1.Shoot) (kit.Outcome, error) {
	if Holds(shoot) && len(Of(shoot)) > 0 {
		return kit.Stop(), nil
	}
	return kit.Stop(), kit.DropFinalizer(ctx, r.Client, shoot, finalizer)
}

func metadata(kind string) *metav1.PartialObjectMetadata {
	object := &metav1.PartialObjectMetadata{}
	object.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(kind))
	return object
}
