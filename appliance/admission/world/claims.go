// SPDX-License-Identifier: Apache-2.0

package world

import (
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// claimTime is how long a claim is valid: longer than any request takes, so that its write is visible by then.
const claimTime = 65 * time.Second

// claims record unique values that requests were allowed to use. A plugin that keeps two objects from having the same value
// looks for the other object, and its own is written some time later. Two concurrent requests would both look before either
// has written; with a claim, the second one finds that of the first.
type claims struct {
	clock clock.PassiveClock

	mu    sync.Mutex
	taken map[string]map[string]claim
}

type claim struct {
	owner string
	until time.Time
}

func newClaims(c clock.PassiveClock) *claims {
	return &claims{clock: c, taken: map[string]map[string]claim{}}
}

// valid returns the claims of a sort that have not ended. The caller holds the lock.
func (c *claims) valid(sort string, now time.Time) map[string]claim {
	all := c.taken[sort]
	if all == nil {
		all = map[string]claim{}
		c.taken[sort] = all
	}
	maps.DeleteFunc(all, func(_ string, by claim) bool { return !by.until.After(now) })

	return all
}

// Claim claims a value of a type for an owner, and reports whether no other owner has claimed it recently. It must be called
// before the plugin reads existing objects.
func (w *World) Claim(sort, thing, owner string) bool {
	c := w.claims
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.clock.Now()
	all := c.valid(sort, now)
	if by, taken := all[thing]; taken && by.owner != owner {
		return false
	}
	all[thing] = claim{owner: owner, until: now.Add(claimTime)}

	return true
}

// Announce claims a value of which there may be several of a type, and returns the other ones that were claimed before, and whether this
// one was not. It must be called before the plugin counts existing objects.
func (w *World) Announce(sort, thing string) (others []string, first bool) {
	c := w.claims
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.clock.Now()
	all := c.valid(sort, now)
	for other := range all {
		if other != thing {
			others = append(others, other)
		}
	}
	_, again := all[thing]
	all[thing] = claim{owner: thing, until: now.Add(claimTime)}
	slices.Sort(others)

	return others, !again
}

// Release ends a claim of an owner: what it was for is written, or will not be.
func (w *World) Release(sort, thing, owner string) {
	c := w.claims
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.taken[sort][thing].owner == owner {
		delete(c.taken[sort], thing)
	}
}
