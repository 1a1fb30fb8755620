// SPDX-License-Identifier: Apache-2.0

package wallclock_test

import (
	"errors"
	"testing"
	"time"

	"github.com/terrarium-garden/terrarium/tests/wallclock"
)

// TestStep sets the clock of this process: the time of the day jumps, and the time that passes does not.
//
//nolint:paralleltest // There is one wall clock.
func TestStep(t *testing.T) {
	clock, err := wallclock.Take()
	if errors.Is(err, wallclock.ErrElsewhere) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatalf("Take(): %v", err)
	}
	const by = 200 * 24 * time.Hour
	before := time.Now()
	clock.Step(by)
	after := time.Now()
	if jumped := after.Round(0).Sub(before.Round(0)); jumped < by || jumped > by+time.Minute {
		t.Errorf("The time of the day went on by %s, want %s", jumped, by)
	}
	if passed := after.Sub(before); passed > time.Minute {
		t.Errorf("Timers went on by %s, and must not notice it", passed)
	}
}
