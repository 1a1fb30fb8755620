// SPDX-License-Identifier: Apache-2.0

package conditions_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/garden/shoot/conditions"
)

type condition = gardencorev1beta1.Condition

func TestMerge(t *testing.T) {
	t.Parallel()
	then := metav1.NewTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	own := condition{Type: "EveryNodeReady", Status: "True"}
	ready := condition{Type: "GardenletReady", Status: "True", LastTransitionTime: then, LastUpdateTime: then}
	extensions := condition{Type: "ExtensionsReady", Status: "False"}
	seed := func(all ...condition) *gardencorev1beta1.Seed {
		return &gardencorev1beta1.Seed{Status: gardencorev1beta1.SeedStatus{Conditions: all}}
	}
	for name, tc := range map[string]struct {
		reason     string
		selfHosted bool
		have       []condition
		seed       *gardencorev1beta1.Seed
		want       []condition
	}{
		"GCM-SHOOTCOND-1 seed":       {reason: "the conditions of the seed are shown, with their times", have: []condition{own}, seed: seed(ready, extensions), want: []condition{own, ready, extensions}},
		"GCM-SHOOTCOND-1 changed":    {reason: "they replace older ones", have: []condition{{Type: "GardenletReady", Status: "False"}, own}, seed: seed(ready), want: []condition{own, ready}},
		"GCM-SHOOTCOND-1 lost":       {reason: "one that the seed has lost goes", have: []condition{own, ready, extensions}, seed: seed(ready), want: []condition{own, ready}},
		"GCM-SHOOTCOND-1 no more":    {reason: "a shoot that is no seed shows its own only", have: []condition{own, ready}, want: []condition{own}},
		"GCM-SHOOTCOND-1 ordinary":   {reason: "an ordinary shoot stays as it is", have: []condition{own}, want: []condition{own}},
		"GCM-SHOOTCOND-1 of a shoot": {reason: "a seed does not overwrite what the gardenlet says about the shoot", have: []condition{own}, seed: seed(condition{Type: "EveryNodeReady", Status: "False"}), want: []condition{own}},
		"GCM-SHOOTCOND-1 nothing":    {reason: "a shoot without conditions has none"},
		"GCM-SEEDLIFE-6 self-hosted": {
			reason: "a self-hosted shoot has a gardenlet and a backup of its own", selfHosted: true,
			have: []condition{own, ready, {Type: "BackupBucketsReady", Status: "True"}, extensions},
			want: []condition{own, ready, {Type: "BackupBucketsReady", Status: "True"}},
		},
		"GCM-SEEDLIFE-6 seed": {
			reason: "of which that of a seed does not take the place", selfHosted: true,
			have: []condition{own, ready}, seed: seed(condition{Type: "GardenletReady", Status: "Unknown"}, extensions),
			want: []condition{own, ready, extensions},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shoot := &gardencorev1beta1.Shoot{Status: gardencorev1beta1.ShootStatus{Conditions: tc.have}}
			if tc.selfHosted {
				shoot.Spec.Provider.Workers = []gardencorev1beta1.Worker{{ControlPlane: &gardencorev1beta1.WorkerControlPlane{}}}
			}
			if diff := cmp.Diff(tc.want, conditions.Merge(shoot, tc.seed), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s\nMerge(...) (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// A new shoot starts no pass, unless it may be a seed.
func TestConcerned_GCM_SHOOTCOND_2(t *testing.T) {
	t.Parallel()
	shoot := func(namespace string, types ...gardencorev1beta1.ConditionType) *gardencorev1beta1.Shoot {
		s := &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "rose"}}
		for _, of := range types {
			s.Status.Conditions = append(s.Status.Conditions, condition{Type: of})
		}

		return s
	}
	for name, tc := range map[string]struct {
		shoot *gardencorev1beta1.Shoot
		want  bool
	}{
		"a shoot that can be a seed":              {shoot("garden"), true},
		"a shoot of a project":                    {shoot("garden-dev"), false},
		"with its own conditions":                 {shoot("garden-dev", "EveryNodeReady"), false},
		"with a condition that only a seed knows": {shoot("garden-dev", "EveryNodeReady", "GardenletReady"), true},
	} {
		if got := conditions.Concerned(tc.shoot); got != tc.want {
			t.Errorf("%s: got %t, want %t", name, got, tc.want)
		}
	}
}
