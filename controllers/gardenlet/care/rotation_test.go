// SPDX-License-Identifier: Apache-2.0

package care_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/care"
)

// rotating is a shoot whose etcd encryption key rotates by itself, in an hour before midnight (UTC).
func rotating(schedules ...gardencorev1beta1.HibernationSchedule) *gardencorev1beta1.Shoot {
	s := shoot()
	s.Spec.Hibernation = &gardencorev1beta1.Hibernation{Schedules: schedules}
	s.Spec.Maintenance = &gardencorev1beta1.Maintenance{
		TimeWindow: &gardencorev1beta1.MaintenanceTimeWindow{Begin: "220000+0000", End: "230000+0000"},
		AutoRotation: &gardencorev1beta1.MaintenanceAutoRotation{Credentials: &gardencorev1beta1.MaintenanceCredentialsAutoRotation{
			ETCDEncryptionKey: &gardencorev1beta1.MaintenanceRotationConfig{RotationPeriod: &metav1.Duration{Duration: 28 * 24 * time.Hour}},
		}},
	}
	return s
}

func nightly(start, end string) gardencorev1beta1.HibernationSchedule {
	var s gardencorev1beta1.HibernationSchedule
	if start != "" {
		s.Start = &start
	}
	if end != "" {
		s.End = &end
	}
	return s
}

// TestRotationDuringHibernation_GLET_CONSTR_6 begins on a Sunday at noon.
func TestRotationDuringHibernation_GLET_CONSTR_6(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	night := nightly("0 20 * * *", "0 6 * * *")
	changed := func(change func(m *gardencorev1beta1.Maintenance)) *gardencorev1beta1.Shoot {
		s := rotating(night)
		change(s.Spec.Maintenance)
		return s
	}
	for reason, tc := range map[string]struct {
		shoot *gardencorev1beta1.Shoot
		told  bool
	}{
		"it sleeps at night":                                     {rotating(night), true},
		"it never wakes up":                                      {rotating(nightly("0 20 * * *", "")), true},
		"it is awake in the evening":                             {rotating(nightly("0 0 * * *", "0 6 * * *")), false},
		"it falls asleep in the window":                          {rotating(nightly("30 22 * * *", "0 6 * * *")), false},
		"it falls asleep when the window opens":                  {rotating(nightly("0 22 * * *", "0 6 * * *")), true},
		"it wakes up in the window":                              {rotating(nightly("0 20 * * *", "30 22 * * *")), false},
		"it wakes up when nothing begins in the window any more": {rotating(nightly("0 20 * * *", "50 22 * * *")), true},
		"it is awake on one evening of the week":                 {rotating(nightly("0 20 * * 0-4,6", "0 6 * * *")), false},
		"it is awake as long as its owner wants":                 {rotating(), false},
		"another schedule wakes it up":                           {rotating(night, nightly("", "0 21 * * 3")), false},
		"a zone makes it awake": {rotating(func() gardencorev1beta1.HibernationSchedule {
			s := nightly("0 20 * * *", "0 6 * * *")
			s.Location = new("America/Los_Angeles")
			return s
		}()), false},
		"its schedules are none":     {rotating(nightly("at night", "")), false},
		"its schedules are too many": {rotating(nightly("* * * * *", "")), false},
		"the key does not rotate":    {changed(func(m *gardencorev1beta1.Maintenance) { m.AutoRotation = nil }), false},
		"the rotation is switched off": {changed(func(m *gardencorev1beta1.Maintenance) {
			m.AutoRotation.Credentials.ETCDEncryptionKey.RotationPeriod.Duration = 0
		}), false},
		"it can be maintained at any time": {changed(func(m *gardencorev1beta1.Maintenance) { m.TimeWindow = nil }), false},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			want := gardencorev1beta1.Condition{Type: "AutomaticCredentialsRotationPossible"}
			if tc.told {
				want.Status, want.Reason = "False", "MaintenanceWindowDuringHibernation"
			}
			if diff := cmp.Diff(want, care.JudgeRotation(tc.shoot, noon), cmpopts.IgnoreFields(want, "Message")); diff != "" {
				t.Errorf("JudgeRotation(...) (-want +got):\n%s", diff)
			}
		})
	}
}

// TestRotationOfASleepingShoot: a cluster that is asleep is told as well.
func TestRotationOfASleepingShoot_GLET_CONSTR_6(t *testing.T) {
	t.Parallel()
	s := rotating(nightly("0 8 * * *", "0 6 * * *"))
	s.Spec.Hibernation.Enabled = new(true)
	w := newWard(t, s, controlPlane()...)
	w.look(t)
	live := &gardencorev1beta1.Shoot{}
	if err := w.GardenClient.Get(t.Context(), client.ObjectKeyFromObject(s), live); err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(live.Status.Constraints, func(c gardencorev1beta1.Condition) bool {
		return c.Type == "AutomaticCredentialsRotationPossible" && c.Status == "False"
	}) {
		t.Errorf("constraints: %+v", live.Status.Constraints)
	}
}
