// SPDX-License-Identifier: Apache-2.0

package managedseedset_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terrarium-garden/terrarium/controllers/garden/managedseedset"
)

// outcome is what is compared of a plan.
type outcome struct {
	Step, Replica, Event, Pending string
	// Since is the minute since when the replica is pending, Retries are its retries.
	Since, Retries int
	// Next is the next number, if it is looked at.
	Next int32
}

func of(plan managedseedset.Plan) outcome {
	o := outcome{Step: string(plan.Step), Replica: plan.Replica, Event: plan.Event, Next: plan.Status.NextReplicaNumber}
	if p := plan.Status.PendingReplica; p != nil {
		o.Pending, o.Since = p.Name+" "+string(p.Reason), int(p.Since.Sub(at(0)).Minutes())
		if p.Retries != nil {
			o.Retries = int(*p.Retries)
		}
	}
	return o
}

func TestDecide(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason   string
		set      *set
		replicas []replica
		taken    []string
		want     outcome
		err      error
	}{
		"GCM-MSS-9 first": {
			reason: "an empty set grows", set: bed(2),
			want: outcome{Step: "CreateShoot", Replica: "a-0", Event: "CreatingShoot", Pending: "a-0 ShootReconciling", Since: 9, Next: 1},
		},
		"GCM-MSS-9 number": {
			reason: "a number is never used again", set: bed(2, next(7)), replicas: []replica{ready(2)},
			want: outcome{Step: "CreateShoot", Replica: "a-7", Event: "CreatingShoot", Pending: "a-7 ShootReconciling", Since: 9, Next: 8},
		},
		"GCM-MSS-9 found": {
			reason: "nor one that a replica has which the status does not know", set: bed(2, next(1)), replicas: []replica{ready(11)},
			want: outcome{Step: "CreateShoot", Replica: "a-12", Event: "CreatingShoot", Pending: "a-12 ShootReconciling", Since: 9, Next: 13},
		},
		"GCM-MSS-9 taken": {
			reason: "nor one that somebody else's shoot or seed has", set: bed(1), taken: []string{"a-0", "a-1", "b-2"},
			want: outcome{Step: "CreateShoot", Replica: "a-2", Event: "CreatingShoot", Pending: "a-2 ShootReconciling", Since: 9, Next: 3},
		},
		"GCM-MSS-9 none left": {reason: "numbers end", set: bed(1, next(1<<31-1)), want: outcome{Next: 1<<31 - 1}, err: errAny},
		"GCM-MSS-9 reserved": {
			reason: "a number that was reserved before a crash is used", set: bed(1, next(4), waits("a-3", "ShootReconciling")),
			want: outcome{Step: "CreateShoot", Replica: "a-3", Event: "CreatingShoot", Pending: "a-3 ShootReconciling", Since: 1, Next: 4},
		},
		"GCM-MSS-9 replaced": {
			reason: "that of a replica that was removed is not, although another one is wanted", set: bed(1, next(4), waits("a-3", "ShootDeleting")),
			want: outcome{Step: "CreateShoot", Replica: "a-4", Event: "CreatingShoot", Pending: "a-4 ShootReconciling", Since: 9, Next: 5},
		},
		"GCM-MSS-9 lost": {
			reason: "unless somebody else took its name", set: bed(1, next(4), waits("a-3", "ShootReconciling")), taken: []string{"a-3"},
			want: outcome{Step: "CreateShoot", Replica: "a-4", Event: "CreatingShoot", Pending: "a-4 ShootReconciling", Since: 9, Next: 5},
		},
		"GCM-MSS-9 unwanted": {
			reason: "or it is not wanted any more", set: bed(1, next(4), waits("a-3", "ShootReconciling")), replicas: []replica{ready(0)},
			want: outcome{Next: 4},
		},
		"GCM-MSS-7 pending": {
			reason: "nothing else happens while a replica is pending", set: bed(5, waits("a-1", "ShootReconciling")),
			replicas: []replica{ready(0), in(1, managedseedset.ShootReconciling)}, want: outcome{Replica: "a-1", Pending: "a-1 ShootReconciling", Since: 1},
		},
		"GCM-MSS-7 ends": {
			reason: "a set that ends wants none", set: bed(1, ending), replicas: []replica{ready(0)},
			want: outcome{Step: "DeleteManagedSeed", Replica: "a-0", Event: "DeletingManagedSeed", Pending: "a-0 ManagedSeedDeleting", Since: 9},
		},
		"GCM-MSS-8 reconciled": {
			reason: "a shoot becomes a seed", set: bed(1, waits("a-0", "ShootReconciling", 2)), replicas: []replica{in(0, managedseedset.ShootReconciled)},
			want: outcome{Step: "CreateManagedSeed", Replica: "a-0", Event: "CreatingManagedSeed", Pending: "a-0 ManagedSeedPreparing", Since: 9},
		},
		"GCM-MSS-8 crashed": {
			reason: "also if that was only noted", set: bed(1, waits("a-0", "ManagedSeedPreparing")), replicas: []replica{in(0, managedseedset.ShootReconciled)},
			want: outcome{Step: "CreateManagedSeed", Replica: "a-0", Event: "CreatingManagedSeed", Pending: "a-0 ManagedSeedPreparing", Since: 1},
		},
		"GCM-MSS-8 unwanted": {
			reason: "or is deleted, as its ManagedSeed was", set: bed(0, waits("a-0", "ManagedSeedDeleting")), replicas: []replica{in(0, managedseedset.ShootReconciled)},
			want: outcome{Step: "DeleteShoot", Replica: "a-0", Event: "DeletingShoot", Pending: "a-0 ShootDeleting", Since: 9},
		},
		"GCM-MSS-8 spared": {
			reason: "unless somebody has spared it since", set: bed(0, waits("a-0", "ManagedSeedDeleting")),
			replicas: []replica{in(0, managedseedset.ShootReconciled, spared(theShoot))}, err: managedseedset.ErrNoneDeletable,
		},
		"GCM-MSS-8 first retry": {
			reason: "a failed shoot is retried", set: bed(1, waits("a-0", "ShootReconciling")), replicas: []replica{in(0, managedseedset.ShootReconcileFailed)},
			want: outcome{Step: "RetryShoot", Replica: "a-0", Event: "RetryingShootReconciliation", Pending: "a-0 ShootReconciling", Since: 1, Retries: 1},
		},
		"GCM-MSS-8 last retry": {
			reason: "and again", set: bed(1, waits("a-0", "ShootReconciling", 2)), replicas: []replica{in(0, managedseedset.ShootReconcileFailed)},
			want: outcome{Step: "RetryShoot", Replica: "a-0", Event: "RetryingShootReconciliation", Pending: "a-0 ShootReconciling", Since: 1, Retries: 3},
		},
		"GCM-MSS-8 given up": {
			reason: "but not for ever", set: bed(1, waits("a-0", "ShootReconciling", 3)), replicas: []replica{in(0, managedseedset.ShootReconcileFailed)},
			want: outcome{Replica: "a-0", Event: "NotRetryingShootReconciliation", Pending: "a-0 ShootReconcileFailed", Since: 9, Retries: 3},
		},
		"GCM-MSS-8 still given up": {
			reason: "which is told once", set: bed(1, waits("a-0", "ShootReconcileFailed", 3)), replicas: []replica{in(0, managedseedset.ShootReconcileFailed)},
			want: outcome{Replica: "a-0", Pending: "a-0 ShootReconcileFailed", Since: 1, Retries: 3},
		},
		"GCM-MSS-8 retrying": {
			reason: "the retries of a shoot that goes on are remembered", set: bed(1, waits("a-0", "ShootReconcileFailed", 3)), replicas: []replica{in(0, managedseedset.ShootReconciling)},
			want: outcome{Replica: "a-0", Event: "WaitingForShootReconciled", Pending: "a-0 ShootReconciling", Since: 9, Retries: 3},
		},
		"GCM-MSS-12 the next one": {
			reason: "another replica that waits for the same is news", set: bed(2, waits("a-0", "ShootNotHealthy")),
			replicas: []replica{ready(0), in(1, managedseedset.ManagedSeedRegistered, func(r *replica) { r.Shoot.Labels["shoot.gardener.cloud/status"] = "unhealthy" })},
			want:     outcome{Replica: "a-1", Event: "WaitingForShootHealthy", Pending: "a-1 ShootNotHealthy", Since: 9},
		},
		"GCM-MSS-8 another count": {
			reason: "the retries of another replica are not its own", set: bed(2, waits("a-0", "ShootReconciling", 3)),
			replicas: []replica{ready(0), in(1, managedseedset.ShootReconcileFailed)},
			want:     outcome{Step: "RetryShoot", Replica: "a-1", Event: "RetryingShootReconciliation", Pending: "a-1 ShootReconciling", Since: 9, Retries: 1},
		},
		"GCM-MSS-10 pending": {
			reason: "the pending replica goes first only if its turn has come", set: bed(1, waits("a-1", "ManagedSeedPreparing")),
			replicas: []replica{in(0, managedseedset.ShootReconcileFailed), in(1, managedseedset.ManagedSeedPreparing)},
			want:     outcome{Step: "DeleteShoot", Replica: "a-0", Event: "DeletingShoot", Pending: "a-0 ShootDeleting", Since: 9},
		},
		"GCM-MSS-8 deletion retried": {
			reason: "a deletion is retried, too, with a count of its own", set: bed(0, waits("a-0", "ShootReconciling", 3)), replicas: []replica{in(0, managedseedset.ShootDeleteFailed)},
			want: outcome{Step: "RetryShoot", Replica: "a-0", Event: "RetryingShootDeletion", Pending: "a-0 ShootDeleting", Since: 9, Retries: 1},
		},
		"GCM-MSS-8 deletion given up": {
			reason: "until it is given up", set: bed(0, waits("a-0", "ShootDeleting", 3)), replicas: []replica{in(0, managedseedset.ShootDeleteFailed)},
			want: outcome{Replica: "a-0", Event: "NotRetryingShootDeletion", Pending: "a-0 ShootDeleteFailed", Since: 9, Retries: 3},
		},
		"GCM-MSS-8 failed, unwanted": {
			reason: "what failed and is not wanted is not retried", set: bed(0, waits("a-0", "ShootReconcileFailed", 1)), replicas: []replica{in(0, managedseedset.ShootReconcileFailed)},
			want: outcome{Step: "DeleteShoot", Replica: "a-0", Event: "DeletingShoot", Pending: "a-0 ShootDeleting", Since: 9},
		},
		"GCM-MSS-8 deleting": {
			reason: "a deletion is waited for", set: bed(0, waits("a-0", "ShootDeleting")), replicas: []replica{in(0, managedseedset.ShootDeleting)},
			want: outcome{Replica: "a-0", Pending: "a-0 ShootDeleting", Since: 1},
		},
		"GCM-MSS-8 seed deleting": {
			reason: "so is that of the seed", set: bed(0, waits("a-0", "ManagedSeedDeleting")), replicas: []replica{in(0, managedseedset.ManagedSeedDeleting)},
			want: outcome{Replica: "a-0", Pending: "a-0 ManagedSeedDeleting", Since: 1},
		},
		"GCM-MSS-8 reconciling, unwanted": {
			reason: "so is a shoot that a gardenlet makes", set: bed(0, waits("a-0", "ShootReconciling")), replicas: []replica{in(0, managedseedset.ShootReconciling)},
			want: outcome{Replica: "a-0", Pending: "a-0 ShootReconciling", Since: 1},
		},
		"GCM-MSS-8 nowhere, unwanted": {
			reason: "but not one that no seed has taken", set: bed(0, waits("a-0", "ShootReconciling")), replicas: []replica{in(0, managedseedset.ShootReconciling, homeless)},
			want: outcome{Step: "DeleteShoot", Replica: "a-0", Event: "DeletingShoot", Pending: "a-0 ShootDeleting", Since: 9},
		},
		"GCM-MSS-8 preparing, unwanted": {
			reason: "nor a seed that is not needed", set: bed(0, waits("a-0", "ManagedSeedPreparing")), replicas: []replica{in(0, managedseedset.ManagedSeedPreparing)},
			want: outcome{Step: "DeleteManagedSeed", Replica: "a-0", Event: "DeletingManagedSeed", Pending: "a-0 ManagedSeedDeleting", Since: 9},
		},
		"GCM-MSS-10 state": {
			reason: "what is least advanced goes first", set: bed(2), replicas: []replica{ready(0, silent), in(1, managedseedset.ShootReconciling), ready(2)},
			want: outcome{Step: "DeleteShoot", Replica: "a-1", Event: "DeletingShoot", Pending: "a-1 ShootDeleting", Since: 9},
		},
		"GCM-MSS-10 seed": {
			reason: "then a seed that is not ready", set: bed(2), replicas: []replica{ready(0, health("unhealthy")), ready(1, silent), ready(2)},
			want: outcome{Step: "DeleteManagedSeed", Replica: "a-1", Event: "DeletingManagedSeed", Pending: "a-1 ManagedSeedDeleting", Since: 9},
		},
		"GCM-MSS-10 health": {
			reason: "then a shoot that is worse", set: bed(3), replicas: []replica{ready(0, health("progressing")), ready(1, health("unknown")), ready(2, health("unhealthy")), ready(3)},
			want: outcome{Step: "DeleteManagedSeed", Replica: "a-2", Event: "DeletingManagedSeed", Pending: "a-2 ManagedSeedDeleting", Since: 9},
		},
		"GCM-MSS-10 number": {
			reason: "then the lowest number, which is no text", set: bed(1), replicas: []replica{ready(10), ready(9)},
			want: outcome{Step: "DeleteManagedSeed", Replica: "a-9", Event: "DeletingManagedSeed", Pending: "a-9 ManagedSeedDeleting", Since: 9},
		},
		"GCM-MSS-10 deletable": {
			reason: "of those that may go", set: bed(3), replicas: []replica{ready(0, hosting), ready(1, spared(theShoot)), ready(2, spared(theManagedSeed)), ready(3)},
			want: outcome{Step: "DeleteManagedSeed", Replica: "a-3", Event: "DeletingManagedSeed", Pending: "a-3 ManagedSeedDeleting", Since: 9},
		},
		"GCM-MSS-10 none": {reason: "it is an error if none may", set: bed(0), replicas: []replica{ready(0, hosting)}, err: managedseedset.ErrNoneDeletable},
		"GCM-MSS-10 begun": {
			reason: "a deletion that somebody else began counts", set: bed(1), replicas: []replica{in(0, managedseedset.ShootDeleting), ready(1)},
			want: outcome{Replica: "a-0", Event: "WaitingForShootDeleted", Pending: "a-0 ShootDeleting", Since: 9},
		},
		"GCM-MSS-11 postponed": {
			reason: "the first that is not ready becomes pending", set: bed(3), replicas: []replica{ready(2, silent), ready(1, health("unknown")), ready(0)},
			want: outcome{Replica: "a-1", Event: "WaitingForShootHealthy", Pending: "a-1 ShootNotHealthy", Since: 9},
		},
		"GCM-MSS-11 next": {
			reason: "and another one once it is ready", set: bed(2, waits("a-0", "ShootNotHealthy")), replicas: []replica{ready(0), ready(1, silent)},
			want: outcome{Replica: "a-1", Event: "WaitingForSeedReady", Pending: "a-1 SeedNotReady", Since: 9},
		},
		"GCM-MSS-8 begun": {
			reason: "a removal that has begun goes on, although another replica would be removed first now",
			set:    bed(1, waits("a-1", "ManagedSeedDeleting")), replicas: []replica{in(0, managedseedset.ShootReconcileFailed), in(1, managedseedset.ShootReconciled)},
			want: outcome{Step: "DeleteShoot", Replica: "a-1", Event: "DeletingShoot", Pending: "a-1 ShootDeleting", Since: 9},
		},
		"GCM-MSS-8 begun, spared": {
			reason: "unless its shoot is protected by now", set: bed(1, waits("a-1", "ManagedSeedDeleting")),
			replicas: []replica{in(0, managedseedset.ShootReconcileFailed), in(1, managedseedset.ShootReconciled, spared(theShoot))},
			want:     outcome{Step: "DeleteShoot", Replica: "a-0", Event: "DeletingShoot", Pending: "a-0 ShootDeleting", Since: 9},
		},
		"GCM-MSS-11 all well":  {reason: "until none is pending", set: bed(1, waits("a-0", "SeedNotReady")), replicas: []replica{ready(0)}},
		"GCM-MSS-11 removed":   {reason: "what was removed is not pending", set: bed(1, waits("a-1", "ShootDeleting")), replicas: []replica{ready(0)}},
		"GCM-MSS-11 empty":     {reason: "a set that ends is released with its last replica", set: bed(2, ending, waits("a-1", "ShootDeleting")), want: outcome{Step: "Release"}},
		"GCM-MSS-11 reserved":  {reason: "and one whose only replica was not made yet at once", set: bed(2, ending, waits("a-1", "ShootReconciling")), want: outcome{Step: "Release"}},
		"GCM-MSS-11 no number": {reason: "a set without a size wants nothing", set: bed(0, func(s *set) { s.Spec.Replicas = nil })},
		"GCM-MSS-12 preparing": {
			reason: "what is waited for is told, once", set: bed(1, waits("a-0", "ShootReconciling")), replicas: []replica{in(0, managedseedset.ManagedSeedPreparing)},
			want: outcome{Replica: "a-0", Event: "WaitingForManagedSeedRegistered", Pending: "a-0 ManagedSeedPreparing", Since: 9},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := managedseedset.View{Set: tc.set, Replicas: tc.replicas, Taken: map[string]bool{}, MaxRetries: 3, Now: at(9)}
			for _, name := range tc.taken {
				v.Taken[name] = true
			}
			plan, err := managedseedset.Decide(v)
			if (err != nil) != (tc.err != nil) || !errors.Is(tc.err, errAny) && !errors.Is(err, tc.err) {
				t.Fatalf("%s\nDecide(...) error = %v, want %v", tc.reason, err, tc.err)
			}
			if diff := cmp.Diff(tc.want, of(plan)); diff != "" {
				t.Errorf("%s\nDecide(...) (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

var errAny = errors.New("any")

func TestCounts(t *testing.T) {
	t.Parallel()
	plan, err := managedseedset.Decide(managedseedset.View{
		Set: bed(4), Replicas: []replica{ready(0), ready(1, silent), ready(2)}, MaxRetries: 3, Now: at(9),
	})
	if err != nil {
		t.Fatal(err)
	}
	got := [3]int64{int64(plan.Status.Replicas), int64(plan.Status.ReadyReplicas), plan.Status.ObservedGeneration}
	if diff := cmp.Diff([3]int64{4, 2, 4}, got); diff != "" {
		t.Errorf("GCM-MSS-9: replicas with the one that is being made, ready ones, generation (-want +got):\n%s", diff)
	}
}
