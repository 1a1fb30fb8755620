// SPDX-License-Identifier: Apache-2.0

package log

import (
	"container/heap"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// expiring is the number of keys whose leases have ended that are removed at the same time, in one transaction where
// nothing else is written.
const expiring = 256

// longestSleep is how long the ends of leases are not looked at.
const longestSleep = time.Minute

// leases knows which keys end when.
type leases struct {
	clock clock.WithTicker
	// wake is sent to when there is an entry that ends before all others.
	wake chan struct{}

	mu   sync.Mutex
	next ending
}

func newLeases(c clock.WithTicker) *leases {
	return &leases{clock: c, wake: make(chan struct{}, 1), next: ending{places: map[string]int{}}}
}

// set notes when a key ends, or that it no longer does.
func (l *leases) set(h head) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.put(h)
}

// put is set for those who hold the mutex.
func (l *leases) put(h head) {
	place, known := l.next.places[h.key]
	switch {
	case h.expires == 0:
		if known {
			heap.Remove(&l.next, place)
		}

		return
	case known:
		l.next.heads[place] = h
		heap.Fix(&l.next, place)
	default:
		heap.Push(&l.next, h)
	}
	if l.next.heads[0].key == h.key {
		select {
		case l.wake <- struct{}{}:
		default:
		}
	}
}

// retry notes that a key is to be removed later, unless it was written since: then it has an entry of its own.
func (l *leases) retry(h head) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, known := l.next.places[h.key]; !known {
		l.put(h)
	}
}

// due takes out what has ended, at most so many, and says how long it is until the next one ends; zero if none does.
func (l *leases) due(limit int) (ended []head, wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.clock.Now()
	for l.next.Len() > 0 && len(ended) < limit {
		if rest := time.Unix(l.next.heads[0].expires, 0).Sub(now); rest > 0 {
			return ended, rest
		}
		ended = append(ended, heap.Pop(&l.next).(head))
	}
	if l.next.Len() > 0 {
		wait = time.Nanosecond
	}

	return ended, wait
}

// expire removes keys when their leases end, until ctx ends.
func (l *Log) expire(ctx context.Context) {
	for {
		ended, wait := l.ends.due(expiring)
		l.removeAll(ctx, ended)
		if !l.sleep(ctx, wait) {
			return
		}
	}
}

// sleep waits until an entry ends that ends before all others were known to, or for a while; zero is for ever. It
// reports false when ctx has ended.
func (l *Log) sleep(ctx context.Context, wait time.Duration) bool {
	var rung <-chan time.Time
	if wait > 0 {
		// Timers do not run while a machine is suspended, and are not moved if its clock is set.
		timer := l.cfg.Clock.NewTimer(min(wait, longestSleep))
		defer timer.Stop()
		rung = timer.C()
	}
	select {
	case <-rung:
	case <-l.ends.wake:
	case <-ctx.Done():
		return false
	}

	return true
}

// removeAll removes keys that were not written since; they are handed over together, so that they share a transaction.
func (l *Log) removeAll(ctx context.Context, ended []head) {
	var group sync.WaitGroup
	failures := make([]error, len(ended))
	for n, h := range ended {
		group.Go(func() {
			_, err := l.Write(ctx, Change{Key: h.key, Delete: true, Revision: h.revision})
			if err == nil || ctx.Err() != nil || errors.Is(err, ErrClosed) {
				return
			}
			failures[n] = err
			h.expires = l.cfg.Clock.Now().Add(retryExpiry).Unix()
			l.ends.retry(h)
		})
	}
	group.Wait()
	failures = slices.DeleteFunc(failures, func(err error) bool { return err == nil })
	if len(failures) > 0 && !errors.Is(failures[0], ErrNoSpace) { // Of that, the writes tell.
		l.cfg.Log.Error(failures[0], "Keys whose leases have ended were not removed; this is tried again", "keys", len(failures))
	}
}

// retryExpiry is the pause before a removal that failed is tried again.
const retryExpiry = 5 * time.Second

// ending orders keys by when they end, and knows where each of them stands.
type ending struct {
	heads  []head
	places map[string]int
}

var _ heap.Interface = (*ending)(nil)

// Len implements heap.Interface.
func (e *ending) Len() int { return len(e.heads) }

// Less implements heap.Interface.
func (e *ending) Less(i, j int) bool { return e.heads[i].expires < e.heads[j].expires }

// Swap implements heap.Interface.
func (e *ending) Swap(i, j int) {
	e.heads[i], e.heads[j] = e.heads[j], e.heads[i]
	e.places[e.heads[i].key], e.places[e.heads[j].key] = i, j
}

// Push implements heap.Interface.
func (e *ending) Push(x any) {
	h := x.(head)
	e.places[h.key] = len(e.heads)
	e.heads = append(e.heads, h)
}

// Pop implements heap.Interface.
func (e *ending) Pop() any {
	last := len(e.heads) - 1
	h := e.heads[last]
	e.heads[last] = head{}
	e.heads = e.heads[:last]
	delete(e.places, h.key)

	return h
}
