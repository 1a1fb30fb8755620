// SPDX-License-Identifier: Apache-2.0

package shoot_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/flow"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/shoot"
	"github.com/terrarium-garden/terrarium/controllers/operation"
)

func identity() gardencorev1beta1.Gardener {
	return gardencorev1beta1.Gardener{ID: "1", Name: "gardenlet-0", Version: "v1"}
}

// failure is the error of a flow whose task has failed.
func failure(t *testing.T, id flow.ID, err error) error {
	t.Helper()
	g, compileErr := flow.Compile("f", flow.Task{ID: id, Title: string(id), Do: func(context.Context) error { return err }})
	if compileErr != nil {
		t.Fatal(compileErr)
	}
	return g.Run(t.Context(), flow.Options{Clock: clock.RealClock{}})
}

func TestStarted_GLET_STATUS_2_3(t *testing.T) {
	t.Parallel()
	begun := metav1.NewTime(now().Add(-3 * time.Hour))
	failing := func(s *gardencorev1beta1.Shoot) {
		s.Status.RetryCycleStartTime = &begun
		s.Status.LastErrors = []gardencorev1beta1.LastError{{TaskID: new("initializeOperation")}, {TaskID: new("worker-wait")}}
	}
	cases := map[string]struct {
		reason string
		shoot  *gardencorev1beta1.Shoot
		kind   gardencorev1beta1.LastOperationType
		cycle  time.Time
	}{
		"Fresh":         {reason: "no cycle yet", shoot: running(), kind: "Reconcile", cycle: now()},
		"Retry":         {reason: "the cycle continues", shoot: running(failing), kind: "Reconcile", cycle: begun.Time},
		"NewGeneration": {reason: "a changed spec begins a new one", shoot: running(failing, func(s *gardencorev1beta1.Shoot) { s.Generation = 4 }), kind: "Reconcile", cycle: now()},
		"NewVersion":    {reason: "another version of Gardener begins a new one", shoot: running(failing, func(s *gardencorev1beta1.Shoot) { s.Status.Gardener.Version = "v0" }), kind: "Reconcile", cycle: now()},
		"Deletion":      {reason: "a deletion begins a new one", shoot: running(failing), kind: "Delete", cycle: now()},
		"DeletionAgain": {reason: "and keeps it", shoot: running(failing, state("Delete", "Error")), kind: "Delete", cycle: begun.Time},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := shoot.Started(tc.shoot, tc.kind, identity(), now())
			want := tc.shoot.Status.DeepCopy()
			want.RetryCycleStartTime = new(metav1.NewTime(tc.cycle))
			want.LastOperation = &gardencorev1beta1.LastOperation{Type: tc.kind, State: "Processing", LastUpdateTime: metav1.NewTime(now())}
			want.UID, want.SeedName = tc.shoot.UID, tc.shoot.Spec.SeedName
			want.ObservedGeneration, want.Gardener = tc.shoot.Generation, identity()
			if len(want.LastErrors) > 0 {
				want.LastErrors = want.LastErrors[1:] // that from before the first task
			}
			if diff := cmp.Diff(*want, got, cmpopts.IgnoreFields(gardencorev1beta1.LastOperation{}, "Description")); diff != "" {
				t.Errorf("%s\nstatus (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestStartedSetsTheIdentityOnce_GLET_SHOOT_18(t *testing.T) {
	t.Parallel()
	fresh := running(func(s *gardencorev1beta1.Shoot) { s.Status = gardencorev1beta1.ShootStatus{} })
	got := shoot.Started(fresh, "Create", identity(), now())
	type identityOf struct{ UID, SeedName string }
	want := identityOf{UID: "uid-1", SeedName: "eu-1"}
	if diff := cmp.Diff(want, identityOf{UID: string(got.UID), SeedName: ptr.Deref(got.SeedName, "")}); diff != "" {
		t.Errorf("the identity is that of the object (-want +got):\n%s", diff)
	}
	restored := running(func(s *gardencorev1beta1.Shoot) { s.UID, s.Spec.SeedName = "uid-2", new("us-1") })
	got = shoot.Started(restored, "Delete", identity(), now())
	if diff := cmp.Diff(want, identityOf{UID: string(got.UID), SeedName: ptr.Deref(got.SeedName, "")}); diff != "" {
		t.Errorf("the identity does not change (-want +got):\n%s", diff)
	}
}

func TestProgressDropsErrorsThatAreOver_GLET_STATUS_7(t *testing.T) {
	t.Parallel()
	status := shoot.Started(running(func(s *gardencorev1beta1.Shoot) {
		s.Status.LastErrors = []gardencorev1beta1.LastError{{TaskID: new("etcd-wait")}, {TaskID: new("worker-wait")}}
	}), "Reconcile", identity(), now())
	got := shoot.Progressed(status, flow.Progress{Flow: "Shoot cluster reconciliation", Total: 3, Succeeded: []flow.ID{"etcd-wait"}, Doing: []string{"Deploying the API server"}}, now().Add(time.Second))
	want := gardencorev1beta1.LastOperation{Type: "Reconcile", State: "Processing", Progress: 33, Description: "Deploying the API server", LastUpdateTime: metav1.NewTime(now().Add(time.Second))}
	if diff := cmp.Diff(want, *got.LastOperation); diff != "" {
		t.Errorf("lastOperation (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]gardencorev1beta1.LastError{{TaskID: new("worker-wait")}}, got.LastErrors); diff != "" {
		t.Errorf("lastErrors (-want +got):\n%s", diff)
	}
}

func TestFailed_GLET_STATUS_4_7_8_9(t *testing.T) {
	t.Parallel()
	plain := failure(t, "etcd-wait", errors.New("0 of 1 pods are ready"))
	denied := failure(t, "infrastructure-wait", fmt.Errorf("wait: %w", operation.WithCodes(errors.New("no credentials"), gardencorev1beta1.ErrorCodeInfraUnauthenticated)))
	leftovers := failure(t, "clean-kubernetes-resources", operation.WithCodes(errors.New("pods are left"), gardencorev1beta1.ErrorCodeCleanupClusterResources))
	at := new(metav1.NewTime(now()))
	cases := map[string]struct {
		reason string
		err    error
		age    time.Duration
		state  gardencorev1beta1.LastOperationState
		text   string
		errs   []gardencorev1beta1.LastError
		cycle  bool
	}{
		"Retry": {
			reason: "it will be tried again", err: plain, age: time.Hour, state: "Error", cycle: true,
			text: `Task "etcd-wait" failed: 0 of 1 pods are ready; the operation will be retried`,
			errs: []gardencorev1beta1.LastError{{Description: `task "etcd-wait" failed: 0 of 1 pods are ready`, TaskID: new("etcd-wait"), LastUpdateTime: at}},
		},
		"TooLong": {
			reason: "twelve hours are over", err: plain, age: 12 * time.Hour, state: "Failed",
			text: `Task "etcd-wait" failed: 0 of 1 pods are ready`,
			errs: []gardencorev1beta1.LastError{{Description: `task "etcd-wait" failed: 0 of 1 pods are ready`, TaskID: new("etcd-wait"), LastUpdateTime: at}},
		},
		"NonRetryableCode_GLET_ERR_2": {
			reason: "only the owner can help", err: denied, age: time.Minute, state: "Failed",
			text: `Task "infrastructure-wait" failed: wait: no credentials`,
			errs: []gardencorev1beta1.LastError{{
				Description: `task "infrastructure-wait" failed: wait: no credentials`, TaskID: new("infrastructure-wait"), LastUpdateTime: at,
				Codes: []gardencorev1beta1.ErrorCode{"ERR_INFRA_UNAUTHENTICATED"},
			}},
		},
		"RetryableCode_GLET_CLEAN_8": {
			reason: "what is left may still be deleted", err: leftovers, age: time.Minute, state: "Error", cycle: true,
			text: `Task "clean-kubernetes-resources" failed: pods are left; the operation will be retried`,
			errs: []gardencorev1beta1.LastError{{
				Description: `task "clean-kubernetes-resources" failed: pods are left`, TaskID: new("clean-kubernetes-resources"), LastUpdateTime: at,
				Codes: []gardencorev1beta1.ErrorCode{"ERR_CLEANUP_CLUSTER_RESOURCES"},
			}},
		},
		"BeforeTheFirstTask": {
			reason: "no task ran", err: errors.New("seed is gone"), age: time.Minute, state: "Error", cycle: true,
			text: "Seed is gone; the operation will be retried",
			errs: []gardencorev1beta1.LastError{{Description: "seed is gone", LastUpdateTime: at}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			status := shoot.Started(running(), "Reconcile", identity(), now())
			status.LastOperation.Progress = 42
			status.RetryCycleStartTime = new(metav1.NewTime(now().Add(-tc.age)))
			got := shoot.Failed(status, shoot.Failure{Err: tc.err, RetryDuration: 12 * time.Hour}, now())
			want := gardencorev1beta1.LastOperation{Type: "Reconcile", State: tc.state, Progress: 42, Description: tc.text, LastUpdateTime: metav1.NewTime(now())}
			if diff := cmp.Diff(want, *got.LastOperation); diff != "" {
				t.Errorf("%s\nlastOperation (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.errs, got.LastErrors); diff != "" {
				t.Errorf("%s\nlastErrors (-want +got):\n%s", tc.reason, diff)
			}
			if (got.RetryCycleStartTime != nil) != tc.cycle {
				t.Errorf("%s\nretryCycleStartTime = %v", tc.reason, got.RetryCycleStartTime)
			}
		})
	}
}

func TestSucceeded_GLET_STATUS_5_6(t *testing.T) {
	t.Parallel()
	s := running(func(s *gardencorev1beta1.Shoot) {
		s.Status.Conditions = []gardencorev1beta1.Condition{
			{Type: "APIServerAvailable", Status: "True", Reason: "HealthzRequestSucceeded"}, {Type: "EveryNodeReady", Status: "False"}, {Type: "Theirs", Status: "True"},
		}
		s.Status.LastErrors = []gardencorev1beta1.LastError{{Description: "old"}}
	})
	s.Status = shoot.Started(s, "Create", identity(), now())
	got := shoot.Succeeded(s, facts.Awake, now().Add(time.Minute))
	want := s.Status.DeepCopy()
	want.LastOperation = &gardencorev1beta1.LastOperation{
		Type: "Create", State: "Succeeded", Progress: 100, Description: "The shoot cluster has been created", LastUpdateTime: metav1.NewTime(now().Add(time.Minute)),
	}
	want.LastErrors, want.RetryCycleStartTime = nil, nil
	if diff := cmp.Diff(*want, got, cmpopts.IgnoreFields(gardencorev1beta1.ShootStatus{}, "Conditions")); diff != "" {
		t.Errorf("status after success (-want +got):\n%s", diff)
	}
	var states []string
	for _, c := range got.Conditions {
		states = append(states, string(c.Type)+"="+string(c.Status))
	}
	if diff := cmp.Diff([]string{"APIServerAvailable=Progressing", "EveryNodeReady=False", "Theirs=True"}, states); diff != "" {
		t.Errorf("conditions to be checked again (-want +got):\n%s", diff)
	}
}

// TestSucceededSaysWhetherItSleeps_GLET_STATUS_5: it is what the run has done, not what was before.
func TestSucceededSaysWhetherItSleeps_GLET_STATUS_5(t *testing.T) {
	t.Parallel()
	for power, sleeps := range map[facts.Power]bool{facts.Awake: false, facts.FallingAsleep: true, facts.Asleep: true} {
		s := running(func(s *gardencorev1beta1.Shoot) { s.Status.Hibernated, s.Status.SeedName = !sleeps, nil })
		s.Status = shoot.Started(s, "Reconcile", identity(), now())
		if got := shoot.Succeeded(s, power, now()); got.Hibernated != sleeps || ptr.Deref(got.SeedName, "") != *s.Spec.SeedName {
			t.Errorf("after a run to %v the shoot sleeps: %t, on seed %q", power, got.Hibernated, ptr.Deref(got.SeedName, ""))
		}
	}
}

func TestWaitingHoldsStill_GLET_SHOOT_8(t *testing.T) {
	t.Parallel()
	reason := errors.New(`seed "eu-1" was not yet reconciled by this gardenlet`)
	first := shoot.Waiting(running().Status, "Reconcile", reason, now())
	want := *running().Status.DeepCopy()
	want.LastOperation = &gardencorev1beta1.LastOperation{
		Type: "Reconcile", State: "Error", LastUpdateTime: metav1.NewTime(now()),
		Description: `Seed "eu-1" was not yet reconciled by this gardenlet; the operation will be retried`,
	}
	if diff := cmp.Diff(want, first, cmpopts.IgnoreFields(gardencorev1beta1.LastOperation{}, "Progress")); diff != "" {
		t.Errorf("status of a shoot that waits (-want +got):\n%s", diff)
	}
	second := shoot.Waiting(first, "Reconcile", reason, now().Add(15*time.Second))
	if diff := cmp.Diff(first, second); diff != "" {
		t.Errorf("the same reason is written again (-first +second):\n%s", diff)
	}
}

func TestCheckSeed_GLET_SHOOT_8(t *testing.T) {
	t.Parallel()
	seed := func(change func(*gardencorev1beta1.Seed)) *gardencorev1beta1.Seed {
		s := &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: "eu-1", Generation: 2}}
		s.Status.Gardener, s.Status.ObservedGeneration = new(identity()), 2
		s.Status.Conditions = []gardencorev1beta1.Condition{
			{Type: "GardenletReady", Status: "True"}, {Type: "SeedSystemComponentsHealthy", Status: "True"},
		}
		change(s)
		return s
	}
	cases := map[string]struct {
		change func(*gardencorev1beta1.Seed)
		want   string
	}{
		"Ready":    {change: func(*gardencorev1beta1.Seed) {}},
		"Foreign":  {change: func(s *gardencorev1beta1.Seed) { s.Status.Gardener.ID = "2" }, want: `seed "eu-1" was not yet reconciled by this gardenlet`},
		"Changed":  {change: func(s *gardencorev1beta1.Seed) { s.Generation = 3 }, want: `seed "eu-1" was changed and is not yet reconciled`},
		"NoAnswer": {change: func(s *gardencorev1beta1.Seed) { s.Status.Conditions = s.Status.Conditions[:1] }, want: `seed "eu-1" has no condition SeedSystemComponentsHealthy yet`},
		"Sick": {change: func(s *gardencorev1beta1.Seed) {
			s.Status.Conditions[1].Status, s.Status.Conditions[1].Message = "False", "definitions are missing"
		}, want: `seed "eu-1" is not healthy: condition SeedSystemComponentsHealthy is False: definitions are missing`},
		"InDeletion": {change: func(s *gardencorev1beta1.Seed) {
			s.DeletionTimestamp, s.Status.Conditions = new(metav1.NewTime(now())), nil
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := ""
			if err := shoot.CheckSeed(seed(tc.change), identity()); err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("CheckSeed(...) (-want +got):\n%s", diff)
			}
		})
	}
}
