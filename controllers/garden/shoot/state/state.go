// SPDX-License-Identifier: Apache-2.0

// Package state protects the ShootState of a Shoot that moves to another seed (GCM-SHOOTSTATE-1): from the start of the move until
// the new seed has taken over, it is the only copy of what the new seed needs.
package state

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const controllerName = "shoot-state"

// Reconciler protects states. It reads their metadata only, because states are large and hold keys.
type Reconciler struct {
	kit.Base

	// Config is the section of the configuration.
	Config gardenconfigv1alpha1.ConcurrencyConfiguration
}

// AddToManager implements kit.Adder. A ShootState has the name of its shoot.
func (r *Reconciler) AddToManager(clusters kit.Clusters) error {
	moved := kit.Changed(func(shoot *gardencorev1beta1.Shoot) any { return Needed(shoot) })
	b := r.Controller(clusters, controllerName, kit.Workers(r.Config.ConcurrentSyncs)).
		For(&gardencorev1beta1.ShootState{}, builder.OnlyMetadata).
		Watches(&gardencorev1beta1.Shoot{}, &handler.EnqueueRequestForObject{}, builder.WithPredicates(moved))
	return kit.Complete(b, controllerName, r)
}

// Reconcile adds the finalizer while the state is needed, and removes it otherwise.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	state := &metav1.PartialObjectMetadata{}
	state.SetGroupVersionKind(gardencorev1beta1.GroupVersion.WithKind("ShootState"))
	if err := r.Client.Get(ctx, request.NamespacedName, state); err != nil {
		return kit.Result(kit.Stop(), client.IgnoreNotFound(err))
	}
	needed, err := r.needed(ctx, request.NamespacedName)
	if err != nil {
		return kit.Result(kit.Stop(), err)
	}
	if !needed {
		return kit.Result(kit.Stop(), kit.DropFinalizer(ctx, r.Client, state, gardencorev1beta1.FinalizerShootState))
	}
	if state.DeletionTimestamp != nil {
		return reconcile.Result{}, nil
	}
	err = kit.EnsureFinalizer(ctx, r.Client, state, gardencorev1beta1.FinalizerShootState)
	return kit.Result(kit.Stop(), client.IgnoreNotFound(err))
}

// needed reads the shoot around the cache: an old one would release the state too early, or too late.
func (r *Reconciler) needed(ctx context.Context, key client.ObjectKey) (bool, error) {
	shoot := &gardencorev1beta1.Shoot{}
	if err := r.Reader.Get(ctx, key, shoot); err != nil {
		if apierrors.IsNotFound(err) {
			return false, nil
		}
		return false, fmt.Errorf("read shoot %q: %w", key, err)
	}
	return Needed(shoot), nil
}

// Needed reports whether a shoot moves and may still have to be restored from its state: from the start of the move until the new
// seed has restored it. After that, or when the move was called off and the old seed acts again, it is not.
func Needed(shoot *gardencorev1beta1.Shoot) bool {
	last := shoot.Status.LastOperation
	if last == nil {
		return false
	}
	switch last.Type {
	case gardencorev1beta1.LastOperationTypeMigrate:
		return true
	case gardencorev1beta1.LastOperationTypeRestore:
		return last.State != gardencorev1beta1.LastOperationStateSucceeded
	default:
		return false
	}
}
