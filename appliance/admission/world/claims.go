// SPDX-License-Identifier: Apache-2.0

package world

import (
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

// Claim claims a value of a type for an owner, and reports whether no other owner has claimed it recently. It must be called
// before the plugin reads existing objects.
func (w *World) Claim(sort, thing, owner string) bool {
	c := w.claims
	c.mu.Lock()
	defer c.mu.Unlock()
	all := c.taken[sort]
	if all == nil {
		all = map[string]claim{}
		c.taken[sort] = all
	}
	now := c.clock.Now()
	for other, by := range all {
		switch {
		case !by.until.After(now):
			delete(all, other)
		case by.owner != owner && other == thing:
			return false
		}
	}
	all[thing] = claim{owner: owner, until: now.Add(claimTime)}

	return true
}
