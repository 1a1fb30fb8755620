// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"math"
	"runtime/debug"
	"testing"
)

//nolint:paralleltest // The collector belongs to the process.
func TestKeeper(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(math.MaxInt64))

	now, asked := counts{}, 0
	k := keeper{limit: 1 << 30, now: func() counts {
		asked++

		return now
	}}
	steps := []struct {
		reason string
		now    counts
		limit  int64
		// freed says that unused memory is given back.
		freed bool
	}{
		{"Nothing is known before the first collection.", counts{allocated: 300 << 20, taken: 300 << 20}, math.MaxInt64, false},
		{"Half of what lives may be garbage.", counts{live: 200 << 20, allocated: 400 << 20, taken: 300 << 20}, 348 << 20, false},
		{"The limit is not exceeded.", counts{live: 900 << 20, allocated: 900 << 20, taken: 900 << 20}, 1 << 30, false},
		{"At rest, memory is given back.", counts{live: 200 << 20, allocated: 901 << 20, taken: 500 << 20}, 348 << 20, true},
		{"Once.", counts{live: 200 << 20, allocated: 902 << 20, taken: 510 << 20}, 348 << 20, false},
		{"Again if it becomes more little by little.", counts{live: 200 << 20, allocated: 940 << 20, taken: 540 << 20}, 348 << 20, true},
		{"Not under load.", counts{live: 200 << 20, allocated: 2000 << 20, taken: 600 << 20}, 348 << 20, false},
		{"But after it.", counts{live: 200 << 20, allocated: 2001 << 20, taken: 540 << 20}, 348 << 20, true},
	}
	for _, step := range steps {
		now = step.now
		before := asked
		k.look()
		if got := debug.SetMemoryLimit(-1); got != step.limit {
			t.Errorf("%s\nlimit: got %d MiB, want %d MiB", step.reason, got>>20, step.limit>>20)
		}
		if freed := asked-before > 1; freed != step.freed {
			t.Errorf("%s\ngiven back: got %t, want %t", step.reason, freed, step.freed)
		}
	}
}
