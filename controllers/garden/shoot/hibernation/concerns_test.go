// SPDX-License-Identifier: Apache-2.0

package hibernation_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/garden/shoot/hibernation"
)

// TestConcerns sees which changes of a shoot start a pass.
func TestConcerns(t *testing.T) {
	t.Parallel()
	scheduled := func(start string) func(*gardencorev1beta1.Shoot) {
		return func(s *gardencorev1beta1.Shoot) {
			s.Spec.Hibernation = &gardencorev1beta1.Hibernation{Schedules: []gardencorev1beta1.HibernationSchedule{nightly(start, "0 6 * * *")}}
		}
	}
	plain := func(*gardencorev1beta1.Shoot) {}
	both := func(changes ...func(*gardencorev1beta1.Shoot)) func(*gardencorev1beta1.Shoot) {
		return func(s *gardencorev1beta1.Shoot) {
			for _, change := range changes {
				change(s)
			}
		}
	}
	failed := func(s *gardencorev1beta1.Shoot) {
		s.Status.LastOperation = &gardencorev1beta1.LastOperation{Type: "Reconcile", State: "Failed"}
	}
	going := func(s *gardencorev1beta1.Shoot) { s.DeletionTimestamp = new(metav1.Now()) }
	byHand := func(s *gardencorev1beta1.Shoot) { s.Spec.Hibernation.Enabled = new(true) }
	evening := scheduled("0 20 * * *")
	for name, tc := range map[string]struct {
		before, after func(*gardencorev1beta1.Shoot)
		want          bool
	}{
		"GCM-HIBER-5 first schedule":   {plain, evening, true},
		"GCM-HIBER-5 another schedule": {scheduled("0 21 * * *"), evening, true},
		"GCM-HIBER-5 no schedules":     {plain, failed, false},
		"GCM-HIBER-1 works again":      {both(evening, failed), evening, true},
		"GCM-HIBER-1 deletion":         {evening, both(evening, going), true},
		"GCM-HIBER-6 by hand":          {evening, both(evening, byHand), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before, after := &gardencorev1beta1.Shoot{}, &gardencorev1beta1.Shoot{}
			tc.before(before)
			tc.after(after)
			if got := hibernation.Concerns().Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after}); got != tc.want {
				t.Errorf("a pass after the change: %t, want %t", got, tc.want)
			}
			if got := hibernation.Concerns().Create(event.CreateEvent{Object: after}); got != (after.Spec.Hibernation != nil) {
				t.Errorf("a pass for a new shoot: %t", got)
			}
		})
	}
}
