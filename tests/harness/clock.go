// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"
)

// pace is how often a Clock follows the real time.
const pace = 5 * time.Millisecond

// Clock runs as fast as the real time, and a test can step it forward. Whatever waits for a time that was stepped over wakes up.
type Clock struct {
	*clocktesting.FakeClock
}

// NewClock returns a clock that shows the real time until it is stepped. It stops with the test.
func NewClock(tb testing.TB) *Clock {
	tb.Helper()

	return NewClockAt(tb, time.Now())
}

// NewClockAt returns a clock like NewClock that begins at another time.
func NewClockAt(tb testing.TB, at time.Time) *Clock {
	tb.Helper()
	c := &Clock{clocktesting.NewFakeClock(at)}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		c.follow(stop)
	}()
	tb.Cleanup(func() { close(stop); <-stopped })

	return c
}

func (c *Clock) follow(stop <-chan struct{}) {
	ticks := time.NewTicker(pace)
	defer ticks.Stop()
	for last := time.Now(); ; {
		select {
		case <-stop:
			return
		case now := <-ticks.C:
			c.Step(now.Sub(last))
			last = now
		}
	}
}
