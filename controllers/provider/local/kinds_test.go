// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"testing"
	"time"

	"github.com/terrarium-garden/terrarium/controllers/provider/local"
)

// TestLimits_EXT_STAT_7 lists how long one run may take.
func TestLimits_EXT_STAT_7(t *testing.T) {
	t.Parallel()
	long := map[string]bool{"Infrastructure": true, "Worker": true, "Bastion": true}
	for _, name := range local.Kinds() {
		want := 3 * time.Minute
		if long[name] {
			want = 20 * time.Minute
		}
		if got := local.Limit(name); got != want {
			t.Errorf("a run on a %s may take %s, want %s", name, got, want)
		}
	}
}
