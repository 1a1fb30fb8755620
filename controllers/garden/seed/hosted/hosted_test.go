// SPDX-License-Identifier: Apache-2.0

package hosted_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/garden/seed/hosted"
)

func TestSeeds(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason       string
		spec, status *string
		want         []string
	}{
		"unscheduled": {reason: "It is on no seed."},
		"scheduled":   {reason: "Its gardenlet has not seen it yet.", spec: new("eu"), want: []string{"eu"}},
		"running":     {reason: "One seed is named once.", spec: new("eu"), status: new("eu"), want: []string{"eu"}},
		"moving":      {reason: "Both seeds have a part of it.", spec: new("us"), status: new("eu"), want: []string{"us", "eu"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shoot := &gardencorev1beta1.Shoot{
				Spec: gardencorev1beta1.ShootSpec{SeedName: tc.spec}, Status: gardencorev1beta1.ShootStatus{SeedName: tc.status},
			}
			if diff := cmp.Diff(tc.want, hosted.Seeds(shoot)); diff != "" {
				t.Errorf("%s\nseeds of the shoot (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
