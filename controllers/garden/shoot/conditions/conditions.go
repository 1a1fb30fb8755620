// SPDX-License-Identifier: Apache-2.0

// Package conditions shows the conditions of a Seed in the Shoot that it is made of (GCM-SHOOTCOND-1, GCM-SHOOTCOND-2), so that
// the operators of the Shoot see them. A Shoot that is no seed, or no more, shows its own conditions only.
package conditions

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const controllerName = "shoot-conditions"

// Reconciler copies conditions of seeds.
type Reconciler struct {
	kit.Base

	// Config is the section of the configuration.
	Config gardenconfigv1alpha1.ConcurrencyConfiguration
}

// AddToManager implements kit.Adder. Changes of shoots do not count: their gardenlet keeps conditions that it does not know.
func (r *Reconciler) AddToManager(clusters kit.Clusters) error {
	created := predicate.Funcs{
		UpdateFunc: func(event.UpdateEvent) bool { return false },
		DeleteFunc: func(event.DeleteEvent) bool { return false },
	}
	judged := kit.Changed(func(seed *gardencorev1beta1.Seed) any { return seed.Status.Conditions })
	b := r.Controller(clusters, controllerName, kit.Workers(r.Config.ConcurrentSyncs)).
		For(&gardencorev1beta1.Shoot{}, builder.WithPredicates(created, kit.Matching(Concerned))).
		Watches(&gardencorev1beta1.Seed{}, handler.EnqueueRequestsFromMapFunc(r.shootOfSeed), builder.WithPredicates(judged)).
		Watches(&gardenseedmanagementv1alpha1.ManagedSeed{}, handler.EnqueueRequestsFromMapFunc(shootOf))
	return kit.Complete(b, controllerName, reconcile.AsReconciler(r.Client, r))
}

// Concerned reports whether a shoot can be a seed, or has conditions that only a seed has. Other shoots start no pass (GCM-SHOOTCOND-2).
func Concerned(shoot *gardencorev1beta1.Shoot) bool {
	return shoot.Namespace == gardencorev1beta1.NamespaceGarden || len(Merge(shoot, nil)) < len(shoot.Status.Conditions)
}

// shootOfSeed enqueues the shoot that a seed is made of. The ManagedSeed of a seed has its name.
func (r *Reconciler) shootOfSeed(ctx context.Context, seed client.Object) []reconcile.Request {
	managed := &gardenseedmanagementv1alpha1.ManagedSeed{}
	key := client.ObjectKey{Namespace: gardencorev1beta1.NamespaceGarden, Name: seed.GetName()}
	if err := r.Client.Get(ctx, key, managed); err != nil {
		return nil
	}
	return shootOf(ctx, managed)
}

func shootOf(_ context.Context, object client.Object) []reconcile.Request {
	managed, ok := object.(*gardenseedmanagementv1alpha1.ManagedSeed)
	if !ok || managed.Spec.Shoot == nil {
		return nil
	}
	return []reconcile.Request{{NamespacedName: client.ObjectKey{Namespace: managed.Namespace, Name: managed.Spec.Shoot.Name}}}
}

// Reconcile writes into the status of one shoot the conditions of its seed, if it has one.
func (r *Reconciler) Reconcile(ctx context.Context, shoot *gardencorev1beta1.Shoot) (reconcile.Result, error) {
	seed, err := r.seedOf(ctx, shoot)
	if err != nil {
		return kit.Result(kit.Stop(), err)
	}
	commit := kit.Begin(r.Client, shoot)
	shoot.Status.Conditions = Merge(shoot, seed)
	return commit.Status(ctx, kit.Stop(), nil)
}

// seedOf returns the seed that a shoot is, or nil.
func (r *Reconciler) seedOf(ctx context.Context, shoot *gardencorev1beta1.Shoot) (*gardencorev1beta1.Seed, error) {
	managed := &gardenseedmanagementv1alpha1.ManagedSeedList{}
	if err := r.Client.List(ctx, managed, client.InNamespace(shoot.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list managed seeds of namespace %q: %w", shoot.Namespace, err)
	}
	i := slices.IndexFunc(managed.Items, func(m gardenseedmanagementv1alpha1.ManagedSeed) bool {
		return m.Spec.Shoot != nil && m.Spec.Shoot.Name == shoot.Name
	})
	if i < 0 {
		return nil, nil //nolint:nilnil // Most shoots are no seeds.
	}
	seed := &gardencorev1beta1.Seed{}
	if err := r.Client.Get(ctx, client.ObjectKey{Name: managed.Items[i].Name}, seed); err != nil {
		if apierrors.IsNotFound(err) {
			return nil, nil //nolint:nilnil // A seed that is not there yet, or no more.
		}
		return nil, fmt.Errorf("read seed %q: %w", managed.Items[i].Name, err)
	}
	return seed, nil
}

// Merge returns the conditions of a shoot: its own, and those of the seed if it is one. Those of another type are left out,
// because they are of a seed that is gone, or that does not have them any more (GCM-SHOOTCOND-1). The conditions of the seed keep
// their times.
func Merge(shoot *gardencorev1beta1.Shoot, seed *gardencorev1beta1.Seed) []gardencorev1beta1.Condition {
	types := ownTypes(shoot)
	own := func(c gardencorev1beta1.Condition) bool { return slices.Contains(types, c.Type) }
	merged := slices.DeleteFunc(slices.Clone(shoot.Status.Conditions), func(c gardencorev1beta1.Condition) bool { return !own(c) })
	if seed == nil {
		return merged
	}
	return append(merged, slices.DeleteFunc(slices.Clone(seed.Status.Conditions), own)...)
}

// ownTypes returns the types of the conditions that are those of the shoot itself. A self-hosted shoot has a gardenlet and a backup of its own,
// about which others have conditions in their Seed (GCM-SEEDLIFE-6).
func ownTypes(shoot *gardencorev1beta1.Shoot) []gardencorev1beta1.ConditionType {
	types := query.ShootConditions()
	if query.SelfHosted(&shoot.Spec) {
		types = append(types, gardencorev1beta1.ConditionTypeGardenletReady, gardencorev1beta1.ConditionTypeBackupBucketsReady)
	}
	return types
}
