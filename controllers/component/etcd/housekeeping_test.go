// SPDX-License-Identifier: Apache-2.0

package etcd_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
)

// TestSchedule: both stores of a shoot are defragmented each day at the same minute, which stays.
func TestSchedule(t *testing.T) {
	t.Parallel()
	with := func(schedule string) *appsv1.StatefulSet {
		set := &appsv1.StatefulSet{}
		if schedule != "" {
			set.Annotations = map[string]string{"etcd.terrarium.garden/defragmentation-schedule": schedule}
		}
		return set
	}
	const night = "220000+0000"
	for name, tc := range map[string]struct {
		reason string
		begin  string
		kept   client.Object
		want   string
	}{
		"BAK-DEFRAG-1 window":  {"a minute in the window", night, nil, "27 22 * * *"},
		"BAK-DEFRAG-1 update":  {"an etcd of an earlier version has no schedule", night, with(""), "27 22 * * *"},
		"BAK-DEFRAG-2 none":    {"without a window, the time of creation", "", nil, "37 14 * * *"},
		"BAK-DEFRAG-3 kept":    {"the window was another one when the etcd came into being", night, with("3 4 * * *"), "3 4 * * *"},
		"BAK-DEFRAG-3 own":     {"an operator has set it", night, with("0 4 * * 6,0"), "0 4 * * 6,0"},
		"BAK-DEFRAG-3 days":    {"a schedule for every third day is replaced", night, with("3 4 */3 * *"), "27 22 * * *"},
		"BAK-DEFRAG-3 minutes": {"but not one for every so many minutes", night, with("*/20 4 * * *"), "*/20 4 * * *"},
		"BAK-DEFRAG-3 wrong":   {"what nobody can read is replaced", night, with("at night"), "27 22 * * *"},
		"BAK-DEFRAG-3 short":   {"as is what has too few fields", night, with("3 4"), "27 22 * * *"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			maintained := func(f *facts.Shoot) {
				f.Shoot.CreationTimestamp, f.Shoot.Status.UID = metav1.NewTime(time.Date(2026, 3, 9, 14, 37, 59, 0, time.UTC)), "a"
				if tc.begin != "" {
					f.Shoot.Spec.Maintenance = &gardencorev1beta1.Maintenance{TimeWindow: &gardencorev1beta1.MaintenanceTimeWindow{Begin: tc.begin, End: "230000+0000"}}
				}
			}
			for _, role := range []string{"main", "events"} {
				set := renderRole(t, role, gardencorev1beta1.SeedSpec{}, tc.kept, maintained)[1]
				if diff := cmp.Diff(map[string]string{
					"etcd.terrarium.garden/defragmentation-schedule": tc.want,
					"etcd.terrarium.garden/client-certificate":       "etcd-client-55555555", "etcd.terrarium.garden/authority": "ca-etcd-bundle-33333333",
				}, set.GetAnnotations()); diff != "" {
					t.Errorf("%s\nannotations of the etcd for %s (-want +got):\n%s", tc.reason, role, diff)
				}
			}
		})
	}
}

// TestPatience: an etcd is not restarted while it is defragmented.
func TestPatience_BAK_DEFRAG_4(t *testing.T) {
	t.Parallel()
	set, _ := render(t, gardencorev1beta1.SeedSpec{}, nil)[1].(*appsv1.StatefulSet)
	live := set.Spec.Template.Spec.Containers[0].LivenessProbe
	if got := time.Duration(live.PeriodSeconds*live.FailureThreshold) * time.Second; got != 2*time.Minute {
		t.Errorf("it is restarted after %s without an answer, want 2m", got)
	}
}
