// SPDX-License-Identifier: Apache-2.0

// Package care checks the shoots of one seed and reports as conditions of each Shoot whether its API server answers, whether its
// control plane is healthy, and whether every node is ready. It changes nothing in seed or shoot.
package care

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// Reconcile checks one shoot once. All checks together end within a period.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	shoot := &gardencorev1beta1.Shoot{}
	if found, err := kit.Live(ctx, r.GardenReader, r.GardenClient, request.NamespacedName, shoot); !found {
		return reconcile.Result{}, err
	}
	if !r.mine(shoot) {
		return reconcile.Result{}, nil
	}
	if shoot.Status.TechnicalID == "" {
		// Nothing exists yet. The end of the first operation starts a check.
		return reconcile.Result{RequeueAfter: r.Config.SyncPeriod.Duration}, nil
	}
	limited, cancel := context.WithTimeout(ctx, r.Config.SyncPeriod.Duration)
	defer cancel()
	findings := r.check(limited, shoot)

	commit := kit.Begin(r.GardenClient, shoot)
	now := r.Clock.Now()
	for _, f := range findings {
		have := query.FindCondition(shoot.Status.Conditions, f.Type)
		f.Status = kit.Damp(have, Pardon(shoot, f.Status), kit.Threshold(r.Config.ConditionThresholds, f.Type), now)
		shoot.Status.Conditions = kit.SetCondition(shoot.Status.Conditions, f, now)
	}
	return commit.Status(ctx, kit.RequeueAfter(r.Config.SyncPeriod.Duration), nil)
}

// check makes all checks. If they cannot be made, the conditions say so.
func (r *Reconciler) check(ctx context.Context, shoot *gardencorev1beta1.Shoot) []gardencorev1beta1.Condition {
	if shoot.Status.Hibernated || query.HibernationWanted(shoot) {
		return r.notChecked(shoot)
	}
	world, err := r.observe(ctx, shoot)
	if err != nil {
		return uncheckable(shoot, err)
	}
	findings := []gardencorev1beta1.Condition{JudgeAPIServer(world.API), JudgeControlPlane(shoot, world)}
	if !query.Workerless(&shoot.Spec) {
		findings = append(findings, JudgeNodes(shoot, world))
	}
	return findings
}

// observe gathers what the checks judge.
func (r *Reconciler) observe(ctx context.Context, shoot *gardencorev1beta1.Shoot) (World, error) {
	world := World{Seed: &gardencorev1beta1.Seed{}}
	namespace := shoot.Status.TechnicalID
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		// While the seed is not known, an empty one takes its place.
		if err := r.GardenClient.Get(ctx, client.ObjectKey{Name: r.SeedName}, world.Seed); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("get seed %q: %w", r.SeedName, err)
		}
		return nil
	})
	group.Go(func() (err error) {
		world.Deployments, world.StatefulSets, err = r.workloads(ctx, namespace)
		return err
	})
	group.Go(func() (err error) {
		world.Reports, err = r.reports(ctx, namespace)
		return err
	})
	group.Go(func() error {
		access, err := r.access(ctx, shoot)
		if err != nil || access == nil {
			return err
		}
		world.API = r.askAPIServer(ctx, access)
		if world.API.Status != 0 && !query.Workerless(&shoot.Spec) {
			world.Nodes, world.NodesErr = nodesOf(ctx, access)
		}
		return nil
	})
	err := group.Wait()
	return world, err
}

// access is the access to the shoot. It is nil if there is none yet or no more.
func (r *Reconciler) access(ctx context.Context, shoot *gardencorev1beta1.Shoot) (*kit.Shoot, error) {
	access, err := r.Shoots.Get(ctx, shoot.Status.TechnicalID)
	if errors.Is(err, kit.ErrNoShootAccess) {
		return nil, nil //nolint:nilnil // no access is an answer
	}
	return access, err
}

// notChecked are the conditions of a shoot that sleeps, falls asleep or wakes up: what does not run cannot be ill (GLET-CARE-5). The
// connection to a shoot that sleeps is closed.
func (r *Reconciler) notChecked(shoot *gardencorev1beta1.Shoot) []gardencorev1beta1.Condition {
	if shoot.Status.Hibernated && query.HibernationWanted(shoot) {
		r.Shoots.Drop(shoot.Status.TechnicalID)
	}
	return all(shoot, gardencorev1beta1.Condition{
		Status: gardencorev1beta1.ConditionTrue, Reason: gardencorev1beta1.ReasonConditionNotChecked,
		Message: "The cluster is hibernated, so this is not checked",
	})
}

func uncheckable(shoot *gardencorev1beta1.Shoot, err error) []gardencorev1beta1.Condition {
	return all(shoot, gardencorev1beta1.Condition{
		Status: gardencorev1beta1.ConditionUnknown, Reason: gardencorev1beta1.ReasonConditionCheckError,
		Message: "The check could not be made: " + err.Error(),
	})
}

// all are the conditions of a shoot, each with the same finding.
func all(shoot *gardencorev1beta1.Shoot, finding gardencorev1beta1.Condition) []gardencorev1beta1.Condition {
	kinds := []gardencorev1beta1.ConditionType{gardencorev1beta1.ConditionTypeAPIServerAvailable, gardencorev1beta1.ConditionTypeControlPlaneHealthy}
	if !query.Workerless(&shoot.Spec) {
		kinds = append(kinds, gardencorev1beta1.ConditionTypeEveryNodeReady)
	}
	findings := make([]gardencorev1beta1.Condition, 0, len(kinds))
	for _, kind := range kinds {
		finding.Type = kind
		findings = append(findings, finding)
	}
	return findings
}
