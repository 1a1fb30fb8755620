// SPDX-License-Identifier: Apache-2.0

package quota_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/garden/shoot/quota"
)

func limited(days ...int32) []gardencorev1beta1.Quota {
	var all []gardencorev1beta1.Quota
	for _, d := range days {
		q := gardencorev1beta1.Quota{}
		if d > 0 {
			q.Spec.ClusterLifetimeDays = &d
		}
		all = append(all, q)
	}
	return all
}

func TestLifetime(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		quotas []gardencorev1beta1.Quota
		want   int32
	}{
		"GCM-SHOOTQUOTA-1 none":      {reason: "a shoot without quotas exists for ever"},
		"GCM-SHOOTQUOTA-1 unlimited": {reason: "quotas that limit other things only", quotas: limited(0, 0)},
		"GCM-SHOOTQUOTA-1 smallest":  {reason: "the strictest counts", quotas: limited(14, 0, 7, 30), want: 7},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := quota.Lifetime(tc.quotas); got != tc.want {
				t.Errorf("%s\nLifetime(...) = %d, want %d", tc.reason, got, tc.want)
			}
		})
	}
}

func TestExpiration(t *testing.T) {
	t.Parallel()
	created := time.Date(2026, 1, 1, 12, 0, 0, 0, time.FixedZone("east", 3600))
	type answer struct {
		Annotation string
		End        time.Time
	}
	for name, tc := range map[string]struct {
		reason string
		have   string
		days   int32
		want   answer
	}{
		"GCM-SHOOTQUOTA-1 no lifetime": {reason: "without a lifetime the annotation goes", have: "2026-02-01T00:00:00Z"},
		"GCM-SHOOTQUOTA-2 missing": {
			reason: "it is set to the creation plus the lifetime", days: 7,
			want: answer{"2026-01-08T11:00:00Z", time.Date(2026, 1, 8, 11, 0, 0, 0, time.UTC)},
		},
		"GCM-SHOOTQUOTA-2 extended": {
			reason: "an existing value is left as it is", days: 7, have: "2026-01-20T00:00:00Z",
			want: answer{"2026-01-20T00:00:00Z", time.Date(2026, 1, 20, 0, 0, 0, 0, time.UTC)},
		},
		"GCM-SHOOTQUOTA-2 shortened": {
			reason: "an earlier one too, in the form in which somebody wrote it", days: 7, have: "2026-01-03T01:00:00+01:00",
			want: answer{"2026-01-03T01:00:00+01:00", time.Date(2026, 1, 3, 0, 0, 0, 0, time.UTC)},
		},
		"GCM-SHOOTQUOTA-2 no time": {
			reason: "a value that is no time would let the shoot exist for ever", days: 7, have: "never",
			want: answer{"2026-01-08T11:00:00Z", time.Date(2026, 1, 8, 11, 0, 0, 0, time.UTC)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shoot := &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(created)}}
			if tc.have != "" {
				shoot.Annotations = map[string]string{"shoot.gardener.cloud/expiration-timestamp": tc.have}
			}
			annotation, end := quota.Expiration(shoot, tc.days)
			if diff := cmp.Diff(tc.want, answer{annotation, end}); diff != "" {
				t.Errorf("%s\nExpiration(...) (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
