// SPDX-License-Identifier: Apache-2.0

package fresh

import (
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestPace(t *testing.T) {
	t.Parallel()

	written := int64(0)
	p := newPace(1000, func() int64 { return written })
	usual := time.Now()
	began := p.Now()
	if diff := cmp.Diff(usual, began, cmpopts.EquateApproxTime(time.Minute)); diff != "" {
		t.Errorf("While nothing is written, it is the usual time.\nNow() (-want +got):\n%s", diff)
	}
	for range 4 {
		written += 250
		p.Now()
	}
	if passed := p.Now().Sub(began); passed < window || passed > window+time.Minute {
		t.Errorf("When so much was written, the window has passed.\nNow(): got %s later, want %s", passed, window)
	}
	if waited := p.Since(began); waited < 0 || waited > time.Minute {
		t.Errorf("Who waits a moment has waited that long.\nSince(a moment ago): got %s after %s", waited, time.Since(usual))
	}
	old := began.Add(-time.Hour)
	if passed, want := p.Since(old), time.Hour+window; passed < want || passed > want+time.Minute {
		t.Errorf("What was long ago is that far away by this clock.\nSince(an hour before): got %s, want %s", passed, want)
	}
	written += 1_000_000
	asked := p.Now()
	if waited := p.Since(asked); waited < 0 || waited > time.Minute {
		t.Errorf("Nor does a leap make it longer.\nSince(just now): got %s", waited)
	}
}

// TestPaceOfAWait writes right before a wait begins. A watch cache wakes those who wait for it once, when the time is over: if its clock
// says then that it is not, they wait on for as long as nothing else wakes them.
func TestPaceOfAWait(t *testing.T) {
	t.Parallel()

	for _, size := range []int64{0, 1, 10, 100, 10_000} {
		written := int64(0)
		p := newPace(1000, func() int64 { return written })
		p.Now()
		written += size
		asked := p.Now()
		since := time.Now()
		for time.Since(since) < time.Millisecond {
			runtime.Gosched()
		}
		least := time.Since(since)
		if waited := p.Since(asked); waited < least {
			t.Errorf("Nobody has waited for less time than has passed.\nSince(): got %s after a write of %d, want at least %s", waited, size, least)
		}
	}
}
