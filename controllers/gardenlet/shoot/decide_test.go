// SPDX-License-Identifier: Apache-2.0

package shoot_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/shoot"
)

func now() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

// running is a shoot that was reconciled ten minutes ago.
func running(changes ...func(*gardencorev1beta1.Shoot)) *gardencorev1beta1.Shoot {
	s := &gardencorev1beta1.Shoot{
		ObjectMeta: metav1.ObjectMeta{Namespace: "garden-dev", Name: "a", Generation: 3, Finalizers: []string{"gardener"}, UID: "uid-1"},
		Spec:       gardencorev1beta1.ShootSpec{SeedName: new("eu-1")},
		Status: gardencorev1beta1.ShootStatus{
			SeedName: new("eu-1"), UID: "uid-1", ObservedGeneration: 3, Gardener: gardencorev1beta1.Gardener{Version: "v1"},
			LastOperation: &gardencorev1beta1.LastOperation{
				Type: "Reconcile", State: "Succeeded", LastUpdateTime: metav1.NewTime(now().Add(-10 * time.Minute)),
			},
		},
	}
	for _, change := range changes {
		change(s)
	}
	return s
}

func state(kind gardencorev1beta1.LastOperationType, state gardencorev1beta1.LastOperationState) func(*gardencorev1beta1.Shoot) {
	return func(s *gardencorev1beta1.Shoot) {
		s.Status.LastOperation.Type, s.Status.LastOperation.State = kind, state
	}
}

func annotated(key, value string) func(*gardencorev1beta1.Shoot) {
	return func(s *gardencorev1beta1.Shoot) { s.Annotations = map[string]string{key: value} }
}

func inDeletion(s *gardencorev1beta1.Shoot) { s.DeletionTimestamp = new(metav1.NewTime(now())) }

func inGarden(s *gardencorev1beta1.Shoot) { s.Namespace = "garden" }

func TestDecide(t *testing.T) {
	t.Parallel()
	const period = "shoot.gardener.cloud/sync-period"
	const ignore = "shoot.gardener.cloud/ignore"
	rest := func(after time.Duration) shoot.Decision {
		return shoot.Decision{Action: shoot.ActionNone, Operation: "Reconcile", After: after}
	}
	run := func(kind gardencorev1beta1.LastOperationType) shoot.Decision {
		return shoot.Decision{Action: shoot.ActionRun, Operation: kind}
	}
	// The minute in a window is random, so these windows have one minute only, besides the 15 minutes at their end.
	window := func(begin, end string) func(*gardencorev1beta1.Shoot) {
		return func(s *gardencorev1beta1.Shoot) {
			s.Spec.Maintenance = &gardencorev1beta1.Maintenance{TimeWindow: &gardencorev1beta1.MaintenanceTimeWindow{Begin: begin, End: end}}
		}
	}
	before := func(s *gardencorev1beta1.Shoot) { s.Status.Gardener.Version = "v0" }
	confined := func(s *gardencorev1beta1.Shoot) { s.Spec.Maintenance.ConfineSpecUpdateRollout = new(true) }
	done := func(age time.Duration) func(*gardencorev1beta1.Shoot) {
		return func(s *gardencorev1beta1.Shoot) {
			s.Status.LastOperation.LastUpdateTime = metav1.NewTime(now().Add(-age))
		}
	}
	cases := map[string]struct {
		reason  string
		shoot   *gardencorev1beta1.Shoot
		respect bool
		// windows lets the gardenlet reconcile all shoots in their windows only.
		windows bool
		want    shoot.Decision
	}{
		"SHOOT_11_Outside":     {reason: "the window opens in the evening", windows: true, shoot: running(window("200000+0000", "201530+0000"), done(48*time.Hour)), want: rest(8 * time.Hour)},
		"SHOOT_11_Inside":      {reason: "the window is open", windows: true, shoot: running(window("120000+0000", "121530+0000"), done(time.Hour)), want: run("Reconcile")},
		"SHOOT_11_Changed":     {reason: "a change acts at once", windows: true, shoot: running(window("200000+0000", "201530+0000"), func(s *gardencorev1beta1.Shoot) { s.Generation = 4 }), want: run("Reconcile")},
		"SHOOT_11_Error":       {reason: "so does an error", windows: true, shoot: running(window("200000+0000", "201530+0000"), state("Reconcile", "Error")), want: run("Reconcile")},
		"SHOOT_12_Confined":    {reason: "a periodic reconciliation would roll changes out", shoot: running(window("200000+0000", "201530+0000"), confined, done(48*time.Hour)), want: rest(8 * time.Hour)},
		"SHOOT_12_Inside":      {reason: "in the window they are rolled out", shoot: running(window("120000+0000", "121530+0000"), confined, done(time.Hour)), want: run("Reconcile")},
		"SHOOT_12_NotConfined": {reason: "other shoots have no need of a window", shoot: running(window("200000+0000", "201530+0000"), done(48*time.Hour)), want: run("Reconcile")},
		"SHOOT_13_Done":        {reason: "once in a window is enough", windows: true, shoot: running(window("115930+0000", "121500+0000"), done(15*time.Second)), want: rest(24*time.Hour - 30*time.Second)},
		"SHOOT_13_Unreadable":  {reason: "without a window the period counts", windows: true, shoot: running(window("at noon", "later"), done(48*time.Hour)), want: run("Reconcile")},
		"SHOOT_13_Reserve":     {reason: "the last 15 minutes do not count", windows: true, shoot: running(window("114500+0000", "120030+0000"), done(48*time.Hour)), want: rest(24*time.Hour - 15*time.Minute)},
		"SHOOT_2_ForeignSeed": {
			reason: "another seed runs it", shoot: running(func(s *gardencorev1beta1.Shoot) { s.Status.SeedName = new("us-1") }), want: shoot.Decision{Action: shoot.ActionNone},
		},
		"SHOOT_2_NotScheduled": {
			reason: "no seed yet", shoot: running(func(s *gardencorev1beta1.Shoot) { s.Status.SeedName, s.Spec.SeedName = nil, nil }), want: shoot.Decision{Action: shoot.ActionNone},
		},
		"SHOOT_2_Moving": {
			reason: "nothing is made while it waits to be moved, and its owner is told", shoot: running(toUS), want: shoot.Decision{Action: shoot.ActionRefuse, Operation: "Reconcile"},
		},
		"SHOOT_2_MovingDeletion": {reason: "the seed that runs it deletes it", shoot: running(toUS, inDeletion), want: run("Delete")},
		"SHOOT_3_New": {
			reason: "no last operation", shoot: running(func(s *gardencorev1beta1.Shoot) { s.Status = gardencorev1beta1.ShootStatus{} }), want: run("Create"),
		},
		"SHOOT_3_UnfinishedCreate": {reason: "a creation stays one until it succeeds", shoot: running(state("Create", "Error")), want: run("Create")},
		"SHOOT_3_Created":          {reason: "after that it is a reconciliation", shoot: running(state("Create", "Succeeded")), want: rest(50 * time.Minute)},
		"SHOOT_4_NewGeneration":    {reason: "the spec changed", shoot: running(func(s *gardencorev1beta1.Shoot) { s.Generation = 4 }), want: run("Reconcile")},
		"SHOOT_5_Error":            {reason: "the last one did not succeed", shoot: running(state("Reconcile", "Error")), want: run("Reconcile")},
		"SHOOT_5_Aborted":          {reason: "a process died in the middle", shoot: running(state("Create", "Aborted")), want: run("Create")},
		"SHOOT_5_Pending":          {reason: "it waited for something", shoot: running(state("Create", "Pending")), want: run("Create")},
		"SHOOT_5_LeftOver":         {reason: "a process died without a word", shoot: running(state("Reconcile", "Processing")), want: run("Reconcile")},
		"SHOOT_6_Failed":           {reason: "the owner has to act", shoot: running(state("Reconcile", "Failed")), want: shoot.Decision{Action: shoot.ActionSync, Operation: "Reconcile"}},
		"SHOOT_6_FailedButChanged": {reason: "the owner has acted", shoot: running(state("Reconcile", "Failed"), func(s *gardencorev1beta1.Shoot) { s.Generation = 4 }), want: run("Reconcile")},
		"SHOOT_6_FailedBeforeUpdate": {
			reason: "another version of Gardener tries again", shoot: running(state("Reconcile", "Failed"), before), want: run("Reconcile"),
		},
		"SHOOT_7_Resting": {reason: "reconciled ten minutes ago", shoot: running(), want: rest(50 * time.Minute)},
		"SHOOT_7_Due": {
			reason: "an hour has passed",
			shoot: running(func(s *gardencorev1beta1.Shoot) {
				s.Status.LastOperation.LastUpdateTime = metav1.NewTime(now().Add(-time.Hour))
			}), want: run("Reconcile"),
		},
		"SHOOT_9_LongerPeriod":      {reason: "a longer period in namespace garden", shoot: running(inGarden, annotated(period, "3h")), want: rest(170 * time.Minute)},
		"SHOOT_9_Respected":         {reason: "a longer period, respected everywhere", shoot: running(annotated(period, "3h")), respect: true, want: rest(170 * time.Minute)},
		"SHOOT_9_NotRespected":      {reason: "users cannot change it by default", shoot: running(annotated(period, "3h")), want: rest(50 * time.Minute)},
		"SHOOT_9_Shorter":           {reason: "shorter periods are ignored", shoot: running(inGarden, annotated(period, "20m")), want: rest(50 * time.Minute)},
		"SHOOT_9_Unreadable":        {reason: "what cannot be read is ignored", shoot: running(inGarden, annotated(period, "soon")), want: rest(50 * time.Minute)},
		"SHOOT_9_Off":               {reason: "0 switches periodic runs off", shoot: running(inGarden, annotated(period, "0m")), want: rest(0)},
		"SHOOT_10_Ignored":          {reason: "only its Cluster object is written", shoot: running(inGarden, annotated(ignore, "1"), state("Reconcile", "Error")), want: shoot.Decision{Action: shoot.ActionSync, Operation: "Reconcile"}},
		"SHOOT_10_IgnoredDeletion":  {reason: "not even deleted", shoot: running(inGarden, annotated(ignore, "TRUE"), inDeletion), want: shoot.Decision{Action: shoot.ActionSync, Operation: "Delete"}},
		"SHOOT_10_NotIgnored":       {reason: "users cannot ask for it by default", shoot: running(annotated(ignore, "true"), state("Reconcile", "Error")), want: run("Reconcile")},
		"SHOOT_17_Deletion":         {reason: "a deletion acts at once", shoot: running(inDeletion), want: run("Delete")},
		"SHOOT_17_NotOurs":          {reason: "without our finalizer it is not ours to delete", shoot: running(inDeletion, func(s *gardencorev1beta1.Shoot) { s.Finalizers = nil }), want: shoot.Decision{Action: shoot.ActionNone}},
		"SHOOT_17_NeverStarted":     {reason: "nothing was ever made", shoot: running(inDeletion, func(s *gardencorev1beta1.Shoot) { s.Status.UID = "" }), want: shoot.Decision{Action: shoot.ActionRelease, Operation: "Delete"}},
		"SHOOT_6_FailedDeletion":    {reason: "a failed deletion waits like everything else", shoot: running(inDeletion, state("Delete", "Failed")), want: shoot.Decision{Action: shoot.ActionSync, Operation: "Delete"}},
		"UpdateOfGardener_SHOOT_14": {reason: "a new version reconciles every shoot", shoot: running(before), want: run("Reconcile")},
		"UpdateOfGardener_SHOOT_11": {reason: "but none outside of its window", windows: true, shoot: running(before, window("200000+0000", "201530+0000")), want: rest(8 * time.Hour)},
		"UpdateOfGardener_SHOOT_12": {reason: "nor does it roll confined changes out", shoot: running(before, window("200000+0000", "201530+0000"), confined), want: rest(8 * time.Hour)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			settings := shoot.Settings{SeedName: "eu-1", Version: "v1", SyncPeriod: time.Hour, RespectOverwrites: tc.respect, InMaintenanceOnly: tc.windows}
			if diff := cmp.Diff(tc.want, shoot.Decide(tc.shoot, settings, now())); diff != "" {
				t.Errorf("%s\nDecide(...) (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
