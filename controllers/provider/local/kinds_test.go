// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/terrarium-garden/terrarium/controllers/provider/local"
)

// TestLimits_EXT_STAT_7 lists how long one run may take.
func TestLimits_EXT_STAT_7(t *testing.T) {
	t.Parallel()
	want, got := map[string]time.Duration{}, map[string]time.Duration{}
	for _, name := range local.Kinds() {
		want[name], got[name] = 3*time.Minute, local.Limit(name)
	}
	for _, name := range []string{"Infrastructure", "Worker", "Bastion"} {
		want[name] = 20 * time.Minute
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("how long a run may take by kind (-want +got):\n%s", diff)
	}
}
