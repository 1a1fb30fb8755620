// SPDX-License-Identifier: Apache-2.0

package world

import (
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// claimTime is how long a claim holds: longer than any request takes, so that by then what it has written can be seen.
const claimTime = 65 * time.Second

// claims remember what requests were allowed to take. A rule that keeps two objects from having the same thing looks for
// the other one, and the object is written some time after. Two requests at once would both look before either has
// written; with a claim, the second one finds that of the first.
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

// Claim takes something of a sort for an owner, and reports whether nobody else has just done so. It must be called before
// the rule looks at what there is. Things collide when they are equal, or when collides says so.
func (w *World) Claim(sort, thing, owner string, collides func(a, b string) bool) bool {
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
		case by.owner != owner && (other == thing || collides != nil && collides(other, thing)):
			return false
		}
	}
	all[thing] = claim{owner: owner, until: now.Add(claimTime)}

	return true
}
