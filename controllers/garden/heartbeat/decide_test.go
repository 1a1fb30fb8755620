// SPDX-License-Identifier: Apache-2.0

package heartbeat_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/garden/heartbeat"
)

type condition = gardencorev1beta1.Condition

func at(second int) time.Time {
	return time.Date(2026, 1, 1, 12, 0, second, 0, time.UTC)
}

func TestAlive(t *testing.T) {
	t.Parallel()
	renewed := func(second int) *coordinationv1.Lease {
		return &coordinationv1.Lease{Spec: coordinationv1.LeaseSpec{RenewTime: new(metav1.NewMicroTime(at(second)))}}
	}
	cases := map[string]struct {
		reason string
		lease  *coordinationv1.Lease
		now    int
		want   bool
	}{
		"GCM-SEEDLIFE-2 renewed":         {reason: "the last heartbeat is younger than the period", lease: renewed(10), now: 49, want: true},
		"GCM-SEEDLIFE-2 stale":           {reason: "the period is over", lease: renewed(10), now: 50},
		"GCM-SEEDLIFE-2 no lease":        {reason: "no lease counts as not renewed, however young the seed is", now: 1},
		"GCM-SEEDLIFE-2 empty lease":     {reason: "a lease that was never renewed is no heartbeat", lease: &coordinationv1.Lease{}, now: 1},
		"GCM-SEEDLIFE-2 clock of future": {reason: "a heartbeat from a clock that is ahead is a heartbeat", lease: renewed(60), now: 10, want: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := heartbeat.Alive(tc.lease, 40*time.Second, at(tc.now)); got != tc.want {
				t.Errorf("%s\nAlive(...) = %t, want %t", tc.reason, got, tc.want)
			}
		})
	}
}

func TestSilence(t *testing.T) {
	t.Parallel()
	before := []condition{
		{Type: "GardenletReady", Status: "True", Reason: "GardenletReady", LastTransitionTime: metav1.NewTime(at(0)), LastUpdateTime: metav1.NewTime(at(0))},
		{Type: "ExtensionsReady", Status: "True"},
	}
	want := []condition{
		{
			Type: "GardenletReady", Status: "Unknown", Reason: "StatusUnknown", Message: "The gardenlet stopped posting its status",
			LastTransitionTime: metav1.NewTime(at(50)), LastUpdateTime: metav1.NewTime(at(50)),
		},
		{Type: "ExtensionsReady", Status: "True"},
	}
	got := heartbeat.Silence(before, at(50))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("GCM-SEEDLIFE-3: only GardenletReady changes (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, heartbeat.Silence(got, at(59))); diff != "" {
		t.Errorf("GCM-SEEDLIFE-3: the same finding changes nothing (-want +got):\n%s", diff)
	}
}

func TestLost(t *testing.T) {
	t.Parallel()
	ready := func(status gardencorev1beta1.ConditionStatus) []condition {
		return []condition{{Type: "GardenletReady", Status: status, LastTransitionTime: metav1.NewTime(at(0))}}
	}
	cases := map[string]struct {
		reason     string
		conditions []condition
		now        int
		want       bool
	}{
		"GCM-SEEDLIFE-5 soon":    {reason: "the gardenlet may still come back", conditions: ready("Unknown"), now: 199},
		"GCM-SEEDLIFE-5 over":    {reason: "it has been silent for too long", conditions: ready("Unknown"), now: 200, want: true},
		"GCM-SEEDLIFE-5 false":   {reason: "False is as bad as Unknown", conditions: ready("False"), now: 200, want: true},
		"GCM-SEEDLIFE-5 ready":   {reason: "a gardenlet that is ready reports itself", conditions: ready("True"), now: 500},
		"GCM-SEEDLIFE-5 missing": {reason: "a seed that never connected runs no shoots", now: 500},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := heartbeat.Lost(tc.conditions, 200*time.Second, at(tc.now)); got != tc.want {
				t.Errorf("%s\nLost(...) = %t, want %t", tc.reason, got, tc.want)
			}
		})
	}
}

func TestForget(t *testing.T) {
	t.Parallel()
	said := func(message string, kinds ...gardencorev1beta1.ConditionType) []condition {
		var all []condition
		for _, kind := range kinds {
			all = append(all, condition{
				Type: kind, Status: "Unknown", Reason: "StatusUnknown", Message: message,
				LastTransitionTime: metav1.NewTime(at(9)), LastUpdateTime: metav1.NewTime(at(9)),
			})
		}
		return all
	}
	unknown := func(kinds ...gardencorev1beta1.ConditionType) []condition {
		return said("The gardenlet of the seed stopped sending heartbeats", kinds...)
	}
	custom, valid := condition{Type: "Custom", Status: "True"}, condition{Type: "CACertificateValiditiesAcceptable", Status: "True"}
	constraints := unknown("HibernationPossible", "MaintenancePreconditionsSatisfied")
	const itsOwn = "The gardenlet of the shoot stopped sending heartbeats"
	for name, tc := range map[string]struct {
		reason       string
		workers      int
		selfHosted   bool
		before, want gardencorev1beta1.ShootStatus
	}{
		"all": {
			reason: "what the gardenlet judges becomes Unknown, all else stays", workers: 1,
			before: gardencorev1beta1.ShootStatus{
				Conditions: []condition{
					{Type: "APIServerAvailable", Status: "True"},
					{Type: "ControlPlaneHealthy", Status: "True"},
					custom,
					{Type: "ObservabilityComponentsHealthy", Status: "Progressing"},
					{Type: "EveryNodeReady", Status: "False"},
					{Type: "SystemComponentsHealthy", Status: "True"},
				},
				Constraints: []condition{{Type: "HibernationPossible", Status: "True"}, valid, {Type: "MaintenancePreconditionsSatisfied", Status: "True"}},
			},
			want: gardencorev1beta1.ShootStatus{
				Conditions: slices.Concat(unknown("APIServerAvailable", "ControlPlaneHealthy"), []condition{custom},
					unknown("ObservabilityComponentsHealthy", "EveryNodeReady", "SystemComponentsHealthy")),
				Constraints: []condition{constraints[0], valid, constraints[1]},
			},
		},
		"none": {
			reason: "also what is not there", workers: 1,
			want: gardencorev1beta1.ShootStatus{
				Conditions:  unknown("APIServerAvailable", "ControlPlaneHealthy", "ObservabilityComponentsHealthy", "EveryNodeReady", "SystemComponentsHealthy"),
				Constraints: constraints,
			},
		},
		"workerless": {
			reason: "but for nodes that it does not have",
			want: gardencorev1beta1.ShootStatus{
				Conditions:  unknown("APIServerAvailable", "ControlPlaneHealthy", "ObservabilityComponentsHealthy", "SystemComponentsHealthy"),
				Constraints: constraints,
			},
		},
		"self-hosted": {
			reason: "of a self-hosted shoot, it was its own gardenlet, whose condition has its own message", workers: 1, selfHosted: true,
			before: gardencorev1beta1.ShootStatus{Conditions: []condition{{Type: "GardenletReady", Status: "Unknown"}, {Type: "BackupBucketsReady", Status: "True"}}},
			want: gardencorev1beta1.ShootStatus{
				Conditions: slices.Concat([]condition{{Type: "GardenletReady", Status: "Unknown"}, {Type: "BackupBucketsReady", Status: "True"}}, said(itsOwn,
					"APIServerAvailable", "ControlPlaneHealthy", "ObservabilityComponentsHealthy", "EveryNodeReady", "SystemComponentsHealthy")),
				Constraints: said(itsOwn, "HibernationPossible", "MaintenancePreconditionsSatisfied"),
			},
		},
	} {
		t.Run("GCM-SEEDLIFE-5 "+name, func(t *testing.T) {
			t.Parallel()
			shoot := &gardencorev1beta1.Shoot{Status: tc.before}
			shoot.Spec.Provider.Workers = make([]gardencorev1beta1.Worker, tc.workers)
			if tc.selfHosted {
				shoot.Spec.Provider.Workers[0].ControlPlane = &gardencorev1beta1.WorkerControlPlane{}
			}
			heartbeat.Forget(shoot, at(9))
			if diff := cmp.Diff(tc.want, shoot.Status); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
