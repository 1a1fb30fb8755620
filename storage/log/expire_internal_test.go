// SPDX-License-Identifier: Apache-2.0

package log

import (
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	testingclock "k8s.io/utils/clock/testing"
)

// suspended is a clock of a machine that was suspended: it is later, and the timers did not run.
type suspended struct {
	*testingclock.FakeClock

	by atomic.Int64
}

// Now implements clock.PassiveClock.
func (s *suspended) Now() time.Time { return s.FakeClock.Now().Add(time.Duration(s.by.Load())) }

// TestExpiryAfterSuspension removes a key soon whose lease has ended while the machine was suspended.
func TestExpiryAfterSuspension(t *testing.T) {
	t.Parallel()
	clk := &suspended{FakeClock: testingclock.NewFakeClock(time.Now())}
	cfg := NewConfig(filepath.Join(t.TempDir(), "events.db"))
	cfg.Clock, cfg.GroupDelay = clk, 0
	l, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}()
	made, err := l.Write(t.Context(), Change{Key: "/a", Value: []byte("a"), Lease: 3600})
	if err != nil {
		t.Fatal(err)
	}
	// The writer, the one who moves the write-ahead log and the one who removes each wait for a time.
	for clk.Waiters() < 3 && t.Context().Err() == nil {
		runtime.Gosched()
	}
	wake := make(chan struct{}, 2)
	follower, err := l.Follow(Range{Key: "/a"}, made.Revision, wake)
	if err != nil {
		t.Fatal(err)
	}
	defer follower.Stop()
	<-wake
	clk.by.Store(int64(time.Hour))
	clk.Step(longestSleep)
	select {
	case <-wake:
	case <-time.After(30 * time.Second):
		t.Error("The key is still there.")
	}
}

// TestRetriedRemoval: a removal that failed is tried again, but not in place of that of a newer lease of the same key.
func TestRetriedRemoval(t *testing.T) {
	t.Parallel()
	clock := testingclock.NewFakeClock(time.Unix(1000, 0))
	l := newLeases(clock)
	l.set(head{key: "/renewed", revision: 2, expires: 1000})
	l.set(head{key: "/ended", revision: 3, expires: 1000})
	failed, _ := l.due(10)
	l.set(head{key: "/renewed", revision: 4, expires: 1100})
	for _, h := range failed {
		h.expires = 1005
		l.retry(h)
	}
	ending := map[string]int64{}
	clock.Step(time.Hour)
	all, _ := l.due(10)
	for _, h := range all {
		ending[h.key] = h.revision
	}
	if diff := cmp.Diff(map[string]int64{"/renewed": 4, "/ended": 3}, ending); diff != "" {
		t.Errorf("the revisions that end (-want +got):\n%s", diff)
	}
}
