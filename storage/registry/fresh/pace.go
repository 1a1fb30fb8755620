// SPDX-License-Identifier: Apache-2.0

package fresh

import (
	"context"
	"sort"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

const (
	// window is how long a watch cache remembers changes, by its clock.
	window = 75 * time.Second
	// recently is how long ago a time may have been asked for whose distance from now is the real one. A watch cache
	// gives up waiting after 3 s.
	recently = 10 * time.Second
	// grain is the time between two remembered times, unless the clock goes ahead by a leap.
	grain, leap = 10 * time.Millisecond, time.Second
)

// pace is the clock of a watch cache. A cache remembers the changes of a time, however many and large they are, and keeps
// what it remembers for as long as nothing is written. So its clock also goes ahead with what is written to the log: when
// so many bytes were written, the time has passed for which changes are remembered. Bookmarks come more often by the same
// measure. A watch that is behind what the cache remembers goes on with the log.
//
// Timers and tickers are real ones, and so is the distance from a time that was asked for a moment ago.
type pace struct {
	clock.RealClock

	bytes   int64
	written func() int64

	mutex sync.Mutex
	marks []mark
}

var _ clock.WithTicker = (*pace)(nil)

// mark says how far the clock was ahead at a time.
type mark struct {
	at    time.Time
	ahead time.Duration
}

// newPace returns a clock by which the window has passed when so many bytes were written.
func newPace(bytes int64, written func() int64) *pace { return &pace{bytes: bytes, written: written} }

// Now implements clock.PassiveClock.
func (p *pace) Now() time.Time {
	now := p.mark()

	return now.at.Add(now.ahead)
}

// Since implements clock.PassiveClock.
func (p *pace) Since(t time.Time) time.Duration {
	now := p.mark()
	p.mutex.Lock()
	defer p.mutex.Unlock()
	// The first mark that is later by this clock; the one before it was current when the time was asked for.
	later := sort.Search(len(p.marks), func(n int) bool { return p.marks[n].at.Add(p.marks[n].ahead).After(t) })
	if later == 0 {
		return now.at.Add(now.ahead).Sub(t)
	}
	asked := t.Add(-p.marks[later-1].ahead)
	if later < len(p.marks) && asked.After(p.marks[later].at) {
		asked = p.marks[later].at
	}

	return max(0, now.at.Sub(asked))
}

// mark returns how far the clock is ahead, and remembers it for a while. Within a grain that stays the same: how far it was ahead at any
// time that was asked for has to be known later, or a wait would seem shorter than it was.
func (p *pace) mark() mark {
	now := mark{at: p.RealClock.Now(), ahead: time.Duration(float64(window) * float64(p.written()) / float64(p.bytes))}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if n := len(p.marks); n > 0 && now.at.Sub(p.marks[n-1].at) < grain && now.ahead-p.marks[n-1].ahead < leap {
		return mark{at: now.at, ahead: p.marks[n-1].ahead}
	}
	old := sort.Search(len(p.marks), func(n int) bool { return now.at.Sub(p.marks[n].at) < recently })
	p.marks = append(p.marks[old:], now)

	return now
}

// unhurried is the context of a watch of a cache, without its deadline: by the clock of the cache it might be over, and then
// no bookmarks come. It is cancelled all the same.
type unhurried struct {
	context.Context //nolint:containedctx // It is a context.
}

// Deadline implements context.Context.
func (unhurried) Deadline() (deadline time.Time, ok bool) { return time.Time{}, false }
