// SPDX-License-Identifier: Apache-2.0

package migration_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/garden/shoot/migration"
)

func TestMoving(t *testing.T) {
	t.Parallel()
	last := func(kind gardencorev1beta1.LastOperationType, state gardencorev1beta1.LastOperationState) *gardencorev1beta1.LastOperation {
		return &gardencorev1beta1.LastOperation{Type: kind, State: state}
	}
	for name, tc := range map[string]struct {
		reason     string
		to, on     *string
		last       *gardencorev1beta1.LastOperation
		inDeletion bool
		want       bool
	}{
		"GCM-MIGR-1 before":    {reason: "it is to move", to: new("b"), on: new("a"), last: last("Reconcile", "Succeeded"), want: true},
		"GCM-MIGR-1 leaves":    {reason: "the old seed gives it up", to: new("b"), on: new("a"), last: last("Migrate", "Processing"), want: true},
		"GCM-MIGR-1 between":   {reason: "it is on no seed", to: new("b"), last: last("Migrate", "Succeeded"), want: true},
		"GCM-MIGR-1 arrives":   {reason: "the new seed takes it over", to: new("b"), on: new("b"), last: last("Restore", "Processing"), want: true},
		"GCM-MIGR-1 arrived":   {reason: "the new seed has it", to: new("b"), on: new("b"), last: last("Restore", "Succeeded")},
		"GCM-MIGR-1 live":      {reason: "it moves while it runs", to: new("b"), on: new("b"), last: last("LiveMigrate", "Processing"), want: true},
		"GCM-MIGR-1 moved":     {reason: "it has moved while it ran", to: new("b"), on: new("b"), last: last("LiveMigrate", "Succeeded")},
		"GCM-MIGR-1 scheduled": {reason: "it is created, not moved", to: new("a")},
		"GCM-MIGR-1 waiting":   {reason: "it has no seed yet"},
		"GCM-MIGR-1 nowhere":   {reason: "nobody has said where it is to move", on: new("a"), last: last("Migrate", "Succeeded")},
		"GCM-MIGR-1 at home":   {reason: "it stays where it is", to: new("a"), on: new("a"), last: last("Reconcile", "Processing")},
		"GCM-MIGR-1 going":     {reason: "what is deleted is not moved", to: new("b"), on: new("a"), inDeletion: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shoot := &gardencorev1beta1.Shoot{}
			shoot.Spec.SeedName, shoot.Status.SeedName, shoot.Status.LastOperation = tc.to, tc.on, tc.last
			if tc.inDeletion {
				shoot.DeletionTimestamp = new(metav1.Now())
			}
			if got := migration.Moving(shoot); got != tc.want {
				t.Errorf("%s\nMoving(...) = %t, want %t", tc.reason, got, tc.want)
			}
		})
	}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	seed := func(name, version string, change func(*gardencorev1beta1.Seed)) *gardencorev1beta1.Seed {
		s := &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: name, Generation: 3}}
		s.Status.ObservedGeneration = 3
		s.Status.Gardener = &gardencorev1beta1.Gardener{Version: version}
		s.Status.Conditions = []gardencorev1beta1.Condition{{Type: "GardenletReady", Status: "True"}, {Type: "SeedSystemComponentsHealthy", Status: "True"}}
		change(s)
		return s
	}
	same := func(*gardencorev1beta1.Seed) {}
	finding := func(status gardencorev1beta1.ConditionStatus, reason, message string) gardencorev1beta1.Condition {
		return gardencorev1beta1.Condition{Type: "ReadyForMigration", Status: status, Reason: reason, Message: message}
	}
	for name, tc := range map[string]struct {
		reason      string
		destination *gardencorev1beta1.Seed
		source      *gardencorev1beta1.Seed
		want        gardencorev1beta1.Condition
	}{
		"GCM-MIGR-1 ready": {
			reason: "the new seed is well and of the same version", destination: seed("b", "v1", same), source: seed("a", "v1", same),
			want: finding("True", "DestinationSeedReady", "Seed b can take over the control plane"),
		},
		"GCM-MIGR-1 in deletion": {
			reason: "it would be lost with the seed", source: seed("a", "v1", same),
			destination: seed("b", "v1", func(s *gardencorev1beta1.Seed) { s.DeletionTimestamp = new(metav1.Now()) }),
			want:        finding("False", "DestinationSeedInDeletion", "Seed b is being deleted"),
		},
		"GCM-MIGR-1 other version": {
			reason: "the new gardenlet may not read what the old one writes", destination: seed("b", "v2", same), source: seed("a", "v1", same),
			want: finding("False", "DestinationSeedUnready", `Seed b is not ready: its gardenlet has version "v2", that of seed a has "v1"`),
		},
		"GCM-MIGR-1 source gone": {
			reason: "nothing is known to be different", destination: seed("b", "v2", same),
			want: finding("True", "DestinationSeedReady", "Seed b can take over the control plane"),
		},
		"GCM-MIGR-1 silent": {
			reason: "nobody would take it over", source: seed("a", "v1", same),
			destination: seed("b", "v1", func(s *gardencorev1beta1.Seed) { s.Status.Conditions[0].Status = "Unknown" }),
			want:        finding("False", "DestinationSeedUnready", "Seed b is not ready: its condition GardenletReady is not True"),
		},
		"GCM-MIGR-1 components": {
			reason: "its control plane would not run", source: seed("a", "v1", same),
			destination: seed("b", "v1", func(s *gardencorev1beta1.Seed) { s.Status.Conditions = s.Status.Conditions[:1] }),
			want:        finding("False", "DestinationSeedUnready", "Seed b is not ready: its condition SeedSystemComponentsHealthy is not True"),
		},
		"GCM-MIGR-1 buckets": {
			reason: "its backups could not be restored", source: seed("a", "v1", same),
			destination: seed("b", "v1", func(s *gardencorev1beta1.Seed) {
				s.Status.Conditions = append(s.Status.Conditions, gardencorev1beta1.Condition{Type: "BackupBucketsReady", Status: "False"})
			}),
			want: finding("False", "DestinationSeedUnready", "Seed b is not ready: its condition BackupBucketsReady is False"),
		},
		"GCM-MIGR-1 buckets unknown": {
			reason: "they may be well", source: seed("a", "v1", same),
			destination: seed("b", "v1", func(s *gardencorev1beta1.Seed) {
				s.Status.Conditions = append(s.Status.Conditions, gardencorev1beta1.Condition{Type: "BackupBucketsReady", Status: "Unknown"})
			}),
			want: finding("True", "DestinationSeedReady", "Seed b can take over the control plane"),
		},
		"GCM-MIGR-1 changed": {
			reason: "what it is going to be is not known", source: seed("a", "v1", same),
			destination: seed("b", "v1", func(s *gardencorev1beta1.Seed) { s.Generation = 4 }),
			want:        finding("False", "DestinationSeedUnready", "Seed b is not ready: its gardenlet has not seen its current specification"),
		},
		"GCM-MIGR-1 missing": {
			reason: "a seed that does not exist", source: seed("a", "v1", same), destination: &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: "b"}},
			want: finding("False", "DestinationSeedUnready", "Seed b is not ready: its condition GardenletReady is not True"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, migration.Judge(tc.destination, tc.source)); diff != "" {
				t.Errorf("%s\nJudge(...) (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
