// SPDX-License-Identifier: Apache-2.0

package bastion_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenoperationsv1alpha1 "github.com/terrarium-garden/terrarium/apis/operations/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/garden/bastion"
)

// at is the hour after the bastion was made.
func at(hours float64) time.Time {
	return time.Date(2026, 5, 4, 8, 0, 0, 0, time.UTC).Add(time.Duration(hours * float64(time.Hour)))
}

func host(change ...func(*gardenoperationsv1alpha1.Bastion)) *gardenoperationsv1alpha1.Bastion {
	b := &gardenoperationsv1alpha1.Bastion{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-dev", Name: "door", CreationTimestamp: metav1.NewTime(at(0))}}
	b.Spec.ShootRef.Name = "sprout"
	b.Spec.SeedName = new("north")
	b.Status.ExpirationTimestamp = new(metav1.NewTime(at(1)))
	for _, c := range change {
		c(b)
	}
	return b
}

func cluster(seed *string, change ...func(*gardencorev1beta1.Shoot)) *gardencorev1beta1.Shoot {
	shoot := &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-dev", Name: "sprout"}}
	shoot.Spec.SeedName = seed
	for _, c := range change {
		c(shoot)
	}
	return shoot
}

func until(hours float64) func(*gardenoperationsv1alpha1.Bastion) {
	return func(b *gardenoperationsv1alpha1.Bastion) {
		b.Status.ExpirationTimestamp = new(metav1.NewTime(at(hours)))
	}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	north := new("north")
	ending := cluster(north, func(s *gardencorev1beta1.Shoot) { s.DeletionTimestamp = new(metav1.NewTime(at(0))) })
	homeless := host(func(b *gardenoperationsv1alpha1.Bastion) { b.Spec.SeedName = nil })
	unborn := host(func(b *gardenoperationsv1alpha1.Bastion) { b.Status.ExpirationTimestamp = nil })
	shut := cluster(north, func(s *gardencorev1beta1.Shoot) {
		s.Spec.Provider.WorkersSettings = &gardencorev1beta1.WorkersSettings{SSHAccess: &gardencorev1beta1.SSHAccess{}}
	})
	open := func(access *gardencorev1beta1.SSHAccess) *gardencorev1beta1.Shoot {
		return cluster(north, func(s *gardencorev1beta1.Shoot) {
			s.Spec.Provider.WorkersSettings = &gardencorev1beta1.WorkersSettings{SSHAccess: access}
		})
	}
	for name, tc := range map[string]struct {
		reason  string
		bastion *gardenoperationsv1alpha1.Bastion
		shoot   *gardencorev1beta1.Shoot
		now     float64
		want    bastion.Verdict
	}{
		"GCM-BASTION-3 gone":          {reason: "a bastion leads to a shoot", bastion: host(), want: bastion.Verdict{Reason: "its shoot does not exist"}},
		"GCM-BASTION-3 ending":        {reason: "its network goes", bastion: host(), shoot: ending, want: bastion.Verdict{Reason: "its shoot is being deleted"}},
		"GCM-BASTION-3 moved":         {reason: "another gardenlet would have to make it", bastion: host(), shoot: cluster(new("south")), want: bastion.Verdict{Reason: "its shoot is on another seed"}},
		"GCM-BASTION-3 shoot nowhere": {reason: "no seed is another seed", bastion: host(), shoot: cluster(nil), want: bastion.Verdict{Reason: "its shoot is on another seed"}},
		"GCM-BASTION-3 nowhere":       {reason: "neither are both the same", bastion: homeless, shoot: cluster(nil), want: bastion.Verdict{Reason: "its shoot is on another seed"}},
		"GCM-BASTION-3 bastion":       {reason: "nor one alone", bastion: homeless, shoot: cluster(north), want: bastion.Verdict{Reason: "its shoot is on another seed"}},
		"GLET-BASTION-5 closed":       {reason: "there is nothing to log in to", bastion: host(), shoot: shut, want: bastion.Verdict{Reason: "the machines of its shoot cannot be reached by SSH any more"}},
		"GLET-BASTION-5 open":         {reason: "what its owner says is open is not closed", bastion: host(), shoot: open(&gardencorev1beta1.SSHAccess{Enabled: true}), want: bastion.Verdict{Left: time.Hour}},
		"GLET-BASTION-5 silent":       {reason: "nor is that of which nobody says anything", bastion: host(), shoot: open(nil), want: bastion.Verdict{Left: time.Hour}},
		"GCM-BASTION-4 expired":       {reason: "nobody kept it alive", bastion: host(), shoot: cluster(north), now: 1.001, want: bastion.Verdict{Reason: "it has expired"}},
		"GCM-BASTION-4 on time":       {reason: "the last moment counts", bastion: host(), shoot: cluster(north), now: 1},
		"GCM-BASTION-4 rotten":        {reason: "nobody can keep it for ever", bastion: host(until(25)), shoot: cluster(north), now: 24.001, want: bastion.Verdict{Reason: "it has reached its maximum lifetime"}},
		"GCM-BASTION-4 old":           {reason: "the last moment of its life counts, too", bastion: host(until(25)), shoot: cluster(north), now: 24},
		"GCM-BASTION-4 future":        {reason: "nor can a clock that was wrong", bastion: host(until(-1)), shoot: cluster(north), now: -0.2, want: bastion.Verdict{Reason: "it was created in the future, by a clock that was wrong, so its age is not known"}},
		"GCM-BASTION-4 set back":      {reason: "a clock that is set a little is none", bastion: host(), shoot: cluster(north), now: -0.1, want: bastion.Verdict{Left: 66 * time.Minute}},
		"GCM-BASTION-5 expires first": {reason: "the nearer end counts", bastion: host(), shoot: cluster(north), now: 0.25, want: bastion.Verdict{Left: 45 * time.Minute}},
		"GCM-BASTION-5 rots first":    {reason: "which may be its greatest age", bastion: host(until(25)), shoot: cluster(north), now: 23.5, want: bastion.Verdict{Left: 30 * time.Minute}},
		"GCM-BASTION-5 no end":        {reason: "a bastion of an earlier release has no other end", bastion: unborn, shoot: cluster(north), now: 4, want: bastion.Verdict{Left: 20 * time.Hour}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, bastion.Judge(tc.bastion, tc.shoot, 24*time.Hour, at(tc.now))); diff != "" {
				t.Errorf("%s\nJudge(...) (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
