// SPDX-License-Identifier: Apache-2.0

package fresh

import (
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/utils/clock"
)

// stuck is a watch cache that ends when it is released.
type stuck chan struct{}

// Stop stops it.
func (s stuck) Stop() { <-s }

// TestStuckCaches ends many watch caches of which some do not end, one after the other, as a server does that has 30 seconds in all.
func TestStuckCaches(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		never, ended := make(stuck), make(stuck)
		close(ended)
		defer close(never)
		all, began := newStopper(clock.RealClock{}), time.Now()
		all.stop(ended)
		if took := time.Since(began); took != 0 {
			t.Errorf("One that ends is not waited for.\nstop(): took %s", took)
		}
		all.stop(never)
		if took := time.Since(began); took != stopping {
			t.Errorf("One that does not is waited for, but not for long.\nstop(): took %s, want %s", took, stopping)
		}
		for range 99 {
			all.stop(never)
		}
		if took := time.Since(began); took > 2*stopping {
			t.Errorf("The waits do not add up.\nstop() of 100: took %s, want at most %s", took, 2*stopping)
		}
	})
}
