// SPDX-License-Identifier: Apache-2.0

// Package migration says in a constraint of a Shoot whether the Seed to which it is to move can take it over (GCM-MIGR-1), so that
// a gardenlet does not give up a control plane that nobody would pick up.
package migration

import (
	"context"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const (
	controllerName = "shoot-migration"
	// recheck is the time between two looks at the destination.
	recheck = 5 * time.Second
)

// Reconciler judges destinations.
type Reconciler struct {
	kit.Base

	// Config is the section of the configuration.
	Config gardenconfigv1alpha1.ConcurrencyConfiguration
}

// AddToManager implements kit.Adder. A shoot that moves is looked at every few seconds, so changes of seeds need not be watched.
func (r *Reconciler) AddToManager(clusters kit.Clusters) error {
	b := r.Controller(clusters, controllerName, kit.Workers(r.Config.ConcurrentSyncs)).
		For(&gardencorev1beta1.Shoot{}, builder.WithPredicates(kit.Matching(concerned), kit.Changed(facts)))
	return kit.Complete(b, controllerName, reconcile.AsReconciler(r.Client, r))
}

// concerned leaves out the shoots that do not move and have no constraint to lose, which are nearly all.
func concerned(shoot *gardencorev1beta1.Shoot) bool {
	return Moving(shoot) || slices.ContainsFunc(shoot.Status.Constraints, ready)
}

func facts(shoot *gardencorev1beta1.Shoot) any {
	return []any{Moving(shoot), shoot.Spec.SeedName, shoot.Status.SeedName}
}

func ready(c gardencorev1beta1.Condition) bool {
	return c.Type == gardencorev1beta1.ConditionTypeReadyForMigration
}

// Reconcile sets the constraint of one shoot while it moves, and removes it afterwards.
func (r *Reconciler) Reconcile(ctx context.Context, shoot *gardencorev1beta1.Shoot) (reconcile.Result, error) {
	commit := kit.Begin(r.Client, shoot)
	if !Moving(shoot) {
		shoot.Status.Constraints = slices.DeleteFunc(slices.Clone(shoot.Status.Constraints), ready)
		return commit.Status(ctx, kit.Stop(), nil)
	}
	destination, err := r.seed(ctx, shoot.Spec.SeedName)
	if err != nil {
		return kit.Result(kit.Stop(), err)
	}
	if destination == nil {
		destination = &gardencorev1beta1.Seed{}
		destination.Name = *shoot.Spec.SeedName
	}
	source, err := r.seed(ctx, shoot.Status.SeedName)
	if err != nil {
		return kit.Result(kit.Stop(), err)
	}
	shoot.Status.Constraints = kit.SetCondition(shoot.Status.Constraints, Judge(destination, source), r.Clock.Now())
	return commit.Status(ctx, kit.RequeueAfter(recheck), nil)
}

// seed returns a seed, or nil if there is none of that name.
func (r *Reconciler) seed(ctx context.Context, name *string) (*gardencorev1beta1.Seed, error) {
	if name == nil {
		return nil, nil //nolint:nilnil // Between its two seeds a shoot is on none.
	}
	seed := &gardencorev1beta1.Seed{}
	if err := r.Client.Get(ctx, client.ObjectKey{Name: *name}, seed); err != nil {
		if apierrors.IsNotFound(err) {
			return nil, nil //nolint:nilnil // The caller knows what to do without it.
		}
		return nil, fmt.Errorf("read seed %q: %w", *name, err)
	}
	return seed, nil
}
