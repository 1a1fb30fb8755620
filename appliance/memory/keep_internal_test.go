// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestKeeper(t *testing.T) {
	t.Parallel()

	now, given, unmapped := counts{}, 0, 0
	k := keeper{now: func() counts { return now }, give: func() { given++ }, unmap: func() { unmapped++ }}
	steps := []struct {
		reason string
		now    counts
		// freed says that unused memory is given back.
		freed bool
	}{
		{"Not while it starts.", counts{allocated: 300 << 20, taken: 300 << 20}, false},
		{"Nor under load.", counts{allocated: 900 << 20, taken: 900 << 20}, false},
		{"At rest, memory is given back.", counts{allocated: 901 << 20, taken: 500 << 20}, true},
		{"And again, as caches forget with time,", counts{allocated: 902 << 20, taken: 510 << 20}, true},
		{"but ever less often:", counts{allocated: 903 << 20, taken: 510 << 20}, false},
		{"after four intervals,", counts{allocated: 904 << 20, taken: 510 << 20}, true},
		{"and not after five.", counts{allocated: 905 << 20, taken: 510 << 20}, false},
		{"Again if it becomes more little by little.", counts{allocated: 940 << 20, taken: 540 << 20}, true},
		{"Not under load.", counts{allocated: 2000 << 20, taken: 600 << 20}, false},
		{"But after it.", counts{allocated: 2001 << 20, taken: 540 << 20}, true},
	}
	var want, got []string
	for _, step := range steps {
		now = step.now
		before, resting := given, unmapped
		k.look()
		if step.freed {
			want = append(want, step.reason)
		}
		if given > before {
			got = append(got, step.reason)
		}
		if given > before && unmapped == resting {
			t.Errorf("%s\nThe pages of the program are given back with the memory.", step.reason)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("when memory is given back (-want +got):\n%s", diff)
	}
	memory, pages := given, unmapped
	for range 3 * glance {
		now.allocated += 1 << 30
		k.look()
	}
	if given != memory || unmapped != pages+3 {
		t.Errorf("Under load, pages of the program are given back from time to time, and no memory.\ngot memory %d times and pages %d times, want 0 and 3",
			given-memory, unmapped-pages)
	}
}
