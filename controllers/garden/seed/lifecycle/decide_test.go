// SPDX-License-Identifier: Apache-2.0

package lifecycle_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/garden/seed/lifecycle"
)

type condition = gardencorev1beta1.Condition

func at(second int) time.Time {
	return time.Date(2026, 1, 1, 12, 0, second, 0, time.UTC)
}

func TestExpired(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		until  *metav1.Time
		want   bool
	}{
		"GCM-SEEDLIFE-4 unknown": {reason: "a gardenlet that never said so"},
		"GCM-SEEDLIFE-4 valid":   {reason: "it can still come back", until: new(metav1.NewTime(at(11)))},
		"GCM-SEEDLIFE-4 over":    {reason: "its certificate is valid no more", until: new(metav1.NewTime(at(10))), want: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seed := &gardencorev1beta1.Seed{Status: gardencorev1beta1.SeedStatus{ClientCertificateExpirationTimestamp: tc.until}}
			if got := lifecycle.Expired(seed, at(10)); got != tc.want {
				t.Errorf("%s\nExpired(...) = %t, want %t", tc.reason, got, tc.want)
			}
		})
	}
}
