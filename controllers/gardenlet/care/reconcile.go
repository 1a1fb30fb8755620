// SPDX-License-Identifier: Apache-2.0

// Package care checks the shoots of one seed and reports as conditions of each Shoot whether its API server answers, whether its
// control plane and its system components are healthy, and whether every node is ready, and as constraints what may be in the way of its next operations. It
// deletes stale pods, corrects webhooks of users if that is switched on, and sizes the DNS servers of shoots whose owners want as many as
// the number of nodes asks for; else it changes nothing in seed or shoot.
package care

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/managedresources"
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
	found := r.check(limited, shoot)

	commit := kit.Begin(r.GardenClient, shoot)
	shoot.Status.Conditions = r.merge(shoot, shoot.Status.Conditions, found.conditions)
	shoot.Status.Constraints = r.merge(shoot, shoot.Status.Constraints, found.constraints)
	next := kit.NextCheck(shoot.Status.Conditions, r.Clock.Now(), r.Config.SyncPeriod.Duration)
	return commit.Status(ctx, kit.RequeueAfter(next), nil)
}

// assessment is the result of all checks.
type assessment struct {
	conditions, constraints []gardencorev1beta1.Condition
}

// merge takes findings over. One without a status takes its condition away. All others stay.
func (r *Reconciler) merge(shoot *gardencorev1beta1.Shoot, have, found []gardencorev1beta1.Condition) []gardencorev1beta1.Condition {
	now := r.Clock.Now()
	for _, f := range found {
		if f.Status == "" {
			have = slices.DeleteFunc(slices.Clone(have), func(c gardencorev1beta1.Condition) bool { return c.Type == f.Type })
			continue
		}
		f.Status = Pardon(shoot, f.Status)
		f.Status = kit.DampAfter(query.FindCondition(have, f.Type), f, kit.Delay{
			Threshold: kit.Threshold(r.Config.ConditionThresholds, f.Type), Now: now, Last: shoot.Status.LastOperation,
		})
		have = kit.SetCondition(have, f, now)
	}
	return have
}

// check makes all checks, and tidies up what they have found. If they cannot be made, conditions and constraints say so.
func (r *Reconciler) check(ctx context.Context, shoot *gardencorev1beta1.Shoot) assessment {
	if err := r.checkPlace(ctx, shoot); err != nil {
		return assessment{conditions: uncheckable(shoot, err), constraints: uncheckableConstraints(err)}
	}
	if asleep(shoot) {
		return r.resting(shoot)
	}
	var collection sync.WaitGroup
	collection.Go(func() { r.collectPlane(ctx, shoot) })
	defer collection.Wait()
	if shoot.Status.Hibernated || query.HibernationWanted(shoot) {
		// A run that puts a shoot to sleep waits until its control plane has no pods, and nobody else deletes stale ones.
		return r.resting(shoot)
	}
	world := r.observe(ctx, shoot)
	found := assessment{
		conditions:  r.judge(shoot, &world),
		constraints: append(JudgeConstraints(world, r.Clock.Now()), JudgeManual(shoot), JudgeRotation(shoot, r.Clock.Now())),
	}
	r.tidy(ctx, shoot, &world)
	return found
}

// asleep reports whether a shoot sleeps and is to go on doing so. Its control plane has no pods, stale ones included (GLET-HIB-2).
func asleep(shoot *gardencorev1beta1.Shoot) bool {
	return shoot.Status.Hibernated && query.HibernationWanted(shoot)
}

// resting is the assessment of a shoot that sleeps, falls asleep or wakes up.
func (r *Reconciler) resting(shoot *gardencorev1beta1.Shoot) assessment {
	return assessment{conditions: r.notChecked(shoot), constraints: append(restingConstraints(), JudgeManual(shoot), JudgeRotation(shoot, r.Clock.Now()))}
}

// judge judges all conditions.
func (r *Reconciler) judge(shoot *gardencorev1beta1.Shoot, w *World) []gardencorev1beta1.Condition {
	if err := w.uncheckable(); err != nil {
		return uncheckable(shoot, err)
	}
	found := []gardencorev1beta1.Condition{JudgeAPIServer(w.API), JudgeControlPlane(shoot, *w), JudgeSystemComponents(shoot, *w)}
	if !query.Workerless(&shoot.Spec) {
		found = append(found, JudgeNodes(shoot, *w))
	}
	return append(found, JudgeObservability(shoot, *w))
}

// observe gathers what the checks judge. What cannot be read is in the way of no other part (GLET-CARE-2).
func (r *Reconciler) observe(ctx context.Context, shoot *gardencorev1beta1.Shoot) World {
	patience := managedresources.Patience{Threshold: ptr.Deref(r.Config.ManagedResourceProgressingThreshold, metav1.Duration{}).Duration, Now: r.Clock.Now()}
	world := World{Seed: &gardencorev1beta1.Seed{}, Patience: patience}
	namespace := shoot.Status.TechnicalID
	// While the seed is not known, an empty one takes its place.
	err := r.GardenClient.Get(ctx, client.ObjectKey{Name: r.SeedName}, world.Seed)
	if err = client.IgnoreNotFound(err); err != nil {
		err = fmt.Errorf("get seed %q: %w", r.SeedName, err)
	}
	var group sync.WaitGroup
	var workloadsErr, reportsErr error
	group.Go(func() { world.Deployments, world.StatefulSets, workloadsErr = r.workloads(ctx, namespace) })
	group.Go(func() { world.Reports, reportsErr = r.reports(ctx, namespace) })
	group.Go(func() {
		if !query.Workerless(&shoot.Spec) {
			world.Machines = machinesOf(ctx, r.SeedClient, namespace)
		}
	})
	group.Go(func() {
		world.Authorities, world.authoritiesErr = r.authorities(ctx, namespace)
		world.Managed, world.managedErr = r.managed(ctx, namespace)
	})
	group.Go(func() { r.lookInside(ctx, shoot, &world) })
	group.Wait()
	world.planeErr = cmp.Or(err, workloadsErr, reportsErr)
	return world
}

// lookInside gathers what is in the shoot, as far as there is access to it. Without a client it is as if the API server did not run (GLET-CARE-6).
func (r *Reconciler) lookInside(ctx context.Context, shoot *gardencorev1beta1.Shoot, world *World) {
	access, err := r.Shoots.Get(ctx, shoot.Status.TechnicalID)
	switch {
	case errors.Is(err, kit.ErrBadShootAccess):
		world.API = Answer{Unusable: err}
	case !errors.Is(err, kit.ErrNoShootAccess):
		world.access, world.accessErr = access, err
	}
	if world.access == nil {
		return
	}
	world.API = r.askAPIServer(ctx, access)
	if ok(world.API.Status) {
		world.Inside = insideOf(ctx, access)
	}
	if world.API.Status != 0 && !query.Workerless(&shoot.Spec) {
		world.Nodes, world.NodesErr = nodesOf(ctx, access)
	}
	if ok(world.API.Status) && len(world.Nodes) > 0 {
		world.TunnelErr, world.Agents = askThroughTunnel(ctx, access), agentsOf(ctx, access, world.Nodes, r.Clock.Now())
		if probed(world.Seed) {
			world.Kubelets = kubeletsOf(ctx, access, r.Clock.Now())
		}
	}
}

// notChecked are the conditions of a shoot that sleeps, falls asleep or wakes up: what does not run cannot be ill (GLET-CARE-5). The
// connection to a shoot that sleeps is closed.
func (r *Reconciler) notChecked(shoot *gardencorev1beta1.Shoot) []gardencorev1beta1.Condition {
	if asleep(shoot) {
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
	kinds := []gardencorev1beta1.ConditionType{
		gardencorev1beta1.ConditionTypeAPIServerAvailable, gardencorev1beta1.ConditionTypeControlPlaneHealthy, gardencorev1beta1.ConditionTypeSystemComponentsHealthy,
	}
	if !query.Workerless(&shoot.Spec) {
		kinds = append(kinds, gardencorev1beta1.ConditionTypeEveryNodeReady)
	}
	kinds = append(kinds, gardencorev1beta1.ConditionTypeObservabilityComponentsHealthy)
	findings := make([]gardencorev1beta1.Condition, 0, len(kinds))
	for _, kind := range kinds {
		finding.Type = kind
		findings = append(findings, finding)
	}
	return findings
}
