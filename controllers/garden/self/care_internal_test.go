// SPDX-License-Identifier: Apache-2.0

package self

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenoperatorv1alpha1 "github.com/terrarium-garden/terrarium/apis/operator/v1alpha1"
)

// TestThreshold makes a part of the server ill for some time [OPER-CARE-4].
func TestThreshold(t *testing.T) {
	t.Parallel()
	const kind = gardenoperatorv1alpha1.ConditionTypeRuntimeComponentsHealthy
	found := gardencorev1beta1.ConditionTrue
	r := &Reconciler{
		Config: gardenconfigv1alpha1.ServerGardenCareConfiguration{
			ConditionThresholds: []gardenconfigv1alpha1.ConditionThreshold{{Type: string(kind), Duration: metav1.Duration{Duration: 2 * time.Minute}}},
		},
		Server: Server{Health: func(context.Context) ([]gardencorev1beta1.Condition, error) {
			return []gardencorev1beta1.Condition{{Type: kind, Status: found, Reason: "R", Message: "M"}}, nil
		}},
	}
	status := &gardenoperatorv1alpha1.GardenStatus{}
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, step := range []struct {
		after       time.Duration
		found, want gardencorev1beta1.ConditionStatus
	}{
		{0, "True", "True"},
		{time.Minute, "False", "Progressing"},
		{2 * time.Minute, "False", "Progressing"},
		{4 * time.Minute, "False", "False"},
		{5 * time.Minute, "True", "True"},
	} {
		found = step.found
		if err := r.care(t.Context(), status, now.Add(step.after)); err != nil {
			t.Fatal(err)
		}
		want := []gardencorev1beta1.Condition{{Type: kind, Status: step.want, Reason: "R", Message: "M"}}
		times := cmpopts.IgnoreFields(gardencorev1beta1.Condition{}, "LastTransitionTime", "LastUpdateTime")
		if diff := cmp.Diff(want, status.Conditions, times); diff != "" {
			t.Errorf("after %s the doctor says %s: conditions (-want +got):\n%s", step.after, step.found, diff)
		}
	}
}

// TestPeriod_OPER_CARE_1 has passes over a server that is being examined.
func TestPeriod_OPER_CARE_1(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason  string
		period  *metav1.Duration
		starts  bool
		looks   int
		allowed time.Duration
		want    time.Duration
	}{
		"default":    {reason: "it is examined every minute, and within one", looks: 1, allowed: time.Minute, want: time.Minute},
		"configured": {reason: "or as often as the configuration says", period: &metav1.Duration{Duration: 20 * time.Second}, looks: 1, allowed: 20 * time.Second, want: 20 * time.Second},
		"starting":   {reason: "the health of a server that starts says nothing", starts: true, want: time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			looks := 0
			r := of(t, func(s *Server) {
				s.Settled = func() bool { return !tc.starts }
				s.Health = func(ctx context.Context) ([]gardencorev1beta1.Condition, error) {
					looks++
					if end, bounded := ctx.Deadline(); !bounded || time.Until(end) > tc.allowed || time.Until(end) < tc.allowed/2 {
						t.Errorf("a look may take until %s, want a period of %s", end, tc.allowed)
					}

					return nil, nil
				}
			})
			r.Config.SyncPeriod = tc.period
			result, err := r.Reconcile(t.Context(), reconcile.Request{})
			if err != nil || result.RequeueAfter != tc.want || looks != tc.looks {
				t.Errorf("%s\nReconcile(...) = %v, %v after %d looks, want %s and %d", tc.reason, result, err, looks, tc.want, tc.looks)
			}
		})
	}
}
