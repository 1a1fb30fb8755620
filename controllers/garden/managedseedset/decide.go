// SPDX-License-Identifier: Apache-2.0

package managedseedset

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
)

// Step is what a pass does beside writing the status. All steps may be repeated.
type Step string

// The steps.
const (
	Nothing           Step = ""
	CreateShoot       Step = "CreateShoot"
	RetryShoot        Step = "RetryShoot"
	DeleteShoot       Step = "DeleteShoot"
	CreateManagedSeed Step = "CreateManagedSeed"
	DeleteManagedSeed Step = "DeleteManagedSeed"
	Release           Step = "Release"
)

// ErrNoneDeletable says that a set has too many replicas and none of them may be removed (GCM-MSS-10).
var ErrNoneDeletable = errors.New("none of the replicas can be deleted: each has shoots on its seed or is protected by an annotation")

// View is what a decision is made of.
type View struct {
	// Set is the set.
	Set *gardenseedmanagementv1alpha1.ManagedSeedSet
	// Replicas are its replicas.
	Replicas []Replica
	// Taken are the names of replicas that objects of others have.
	Taken map[string]bool
	// MaxRetries is how often a failed shoot is retried.
	MaxRetries int
	// Now is the time.
	Now time.Time
}

// Plan is what a decision leads to.
type Plan struct {
	// Status is the status of the set. It has to be written before the step is taken, but for a retry, which it counts: that is taken first.
	Status gardenseedmanagementv1alpha1.ManagedSeedSetStatus
	// Step is the step, and Replica the name of the replica that it is about.
	Step    Step
	Replica string
	// Event is the reason of the event that tells of the step, or of what is waited for; empty if nothing is new.
	Event string
}

type reason = gardenseedmanagementv1alpha1.PendingReplicaReason

// Decide returns the next step of a set. The pending replica comes first, and while it is pending nothing else happens
// (GCM-MSS-7). Then the set grows or shrinks by one, or else the first of the replicas that are not ready becomes pending. The
// plan of an error has a status, too.
func Decide(v View) (Plan, error) {
	v.Replicas = slices.SortedFunc(slices.Values(v.Replicas), func(a, b Replica) int { return cmp.Compare(a.Ordinal, b.Ordinal) })
	plan := Plan{Status: *v.Set.Status.DeepCopy()}
	plan.Status.ObservedGeneration = v.Set.Generation
	plan.Status.Replicas, plan.Status.ReadyReplicas = v.counts()
	if move, ok := v.drivePending(); ok {
		v.apply(&plan, move)
		return plan, nil
	}
	plan.Status.PendingReplica = nil
	target := v.target()
	switch actual := v.size(); {
	case actual < target:
		return plan, v.grow(&plan)
	case actual > target:
		return plan, v.shrink(&plan)
	case actual == 0 && v.Set.DeletionTimestamp != nil:
		plan.Step = Release
		return plan, nil
	}
	for i := range v.Replicas {
		if move, ok := v.drive(&v.Replicas[i]); ok {
			v.apply(&plan, move)
			break
		}
	}
	return plan, nil
}

// move is a step of one replica and what the replica then waits for.
type move struct {
	replica string
	step    Step
	reason  reason
	event   string
	// retry counts one more retry.
	retry bool
}

// target is the number of replicas that are wanted (GCM-MSS-7).
func (v View) target() int {
	if v.Set.DeletionTimestamp != nil {
		return 0
	}
	return int(ptr.Deref(v.Set.Spec.Replicas, 0))
}

func (v View) size() int       { return len(v.Replicas) }
func (v View) shrinking() bool { return v.size() > v.target() }

func (v View) counts() (all, ready int32) {
	for i := range v.Replicas {
		all++
		if v.Replicas[i].Ready() {
			ready++
		}
	}
	return all, ready
}

func (v View) replica(name string) *Replica {
	if i := slices.IndexFunc(v.Replicas, func(r Replica) bool { return r.Name == name }); i >= 0 {
		return &v.Replicas[i]
	}
	return nil
}

// drivePending moves the pending replica on, and reports whether it still is pending. A replica without a shoot that waits for
// its reconciliation is one whose number was reserved before the shoot could be created; it is created if it still is wanted
// and nobody else took its name. Any other replica without a shoot has been removed.
func (v View) drivePending() (move, bool) {
	was := v.Set.Status.PendingReplica
	if was == nil {
		return move{}, false
	}
	if r := v.replica(was.Name); r != nil {
		return v.drive(r)
	}
	reserved := was.Reason == gardenseedmanagementv1alpha1.ShootReconcilingReason
	return creation(was.Name), reserved && v.size() < v.target() && !v.Taken[was.Name]
}

func creation(name string) move {
	return move{
		replica: name, step: CreateShoot, reason: gardenseedmanagementv1alpha1.ShootReconcilingReason,
		event: gardenseedmanagementv1alpha1.EventCreatingShoot,
	}
}

// grow reserves the next number, which no object has or had, for a new replica (GCM-MSS-9).
func (v View) grow(plan *Plan) error {
	next := plan.Status.NextReplicaNumber
	for i := range v.Replicas {
		next = max(next, v.Replicas[i].Ordinal+1)
	}
	for next < math.MaxInt32 && v.Taken[replicaName(v.Set.Name, next)] {
		next++
	}
	if next == math.MaxInt32 {
		return fmt.Errorf("set %q has no number left for another replica", v.Set.Name)
	}
	plan.Status.NextReplicaNumber = next + 1
	v.apply(plan, creation(replicaName(v.Set.Name, next)))
	return nil
}

// shrink removes the replica of the lowest priority (GCM-MSS-10).
func (v View) shrink(plan *Plan) error {
	var lowest *Replica
	for i := range v.Replicas {
		if r := &v.Replicas[i]; r.Deletable() && (lowest == nil || priority(r, lowest) < 0) {
			lowest = r
		}
	}
	if lowest == nil {
		return ErrNoneDeletable
	}
	next := removal(lowest)
	if leaving(lowest) {
		next, _ = v.drive(lowest)
	}
	v.apply(plan, next)
	return nil
}

// priority compares two replicas; the lower one is removed first.
func priority(a, b *Replica) int {
	return cmp.Or(
		cmp.Compare(a.State(), b.State()),
		cmp.Compare(rank(a.SeedReady()), rank(b.SeedReady())),
		cmp.Compare(a.health(), b.health()),
		cmp.Compare(a.Ordinal, b.Ordinal),
	)
}

func rank(is bool) int {
	if is {
		return 1
	}
	return 0
}

// removal deletes the ManagedSeed; the shoot follows when that is gone.
func removal(r *Replica) move {
	if r.ManagedSeed != nil {
		return move{
			replica: r.Name, step: DeleteManagedSeed, reason: gardenseedmanagementv1alpha1.ManagedSeedDeletingReason,
			event: gardenseedmanagementv1alpha1.EventDeletingManagedSeed,
		}
	}
	return move{
		replica: r.Name, step: DeleteShoot, reason: gardenseedmanagementv1alpha1.ShootDeletingReason,
		event: gardenseedmanagementv1alpha1.EventDeletingShoot,
	}
}

// apply notes what the replica waits for, since when, and how often it was retried. An event is only due for a step, or if
// the replica waits for something new.
func (v View) apply(plan *Plan, m move) {
	next := &gardenseedmanagementv1alpha1.PendingReplica{Name: m.replica, Reason: m.reason, Since: metav1.NewTime(v.Now)}
	was := v.Set.Status.PendingReplica
	if was != nil && was.Name == m.replica {
		if was.Reason == m.reason {
			next.Since = was.Since
		}
		if deletes(was.Reason) == deletes(m.reason) && retries(m.reason) {
			next.Retries = was.Retries
		}
	}
	if m.retry {
		next.Retries = new(ptr.Deref(next.Retries, 0) + 1)
	}
	plan.Status.PendingReplica = next
	plan.Step, plan.Replica = m.step, m.replica
	if m.step == CreateShoot {
		plan.Status.Replicas++
	}
	if m.step != Nothing || was == nil || was.Name != next.Name || was.Reason != next.Reason {
		plan.Event = m.event
	}
}

// retries reports whether retries of a shoot are counted while a replica waits for that reason.
func retries(r reason) bool {
	switch r {
	case gardenseedmanagementv1alpha1.ShootReconcilingReason, gardenseedmanagementv1alpha1.ShootReconcileFailedReason,
		gardenseedmanagementv1alpha1.ShootDeletingReason, gardenseedmanagementv1alpha1.ShootDeleteFailedReason:
		return true
	default:
		return false
	}
}

func deletes(r reason) bool {
	return r == gardenseedmanagementv1alpha1.ShootDeletingReason || r == gardenseedmanagementv1alpha1.ShootDeleteFailedReason
}
