// SPDX-License-Identifier: Apache-2.0

package world

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/terrarium-garden/terrarium/appliance/admission/outcome"
)

// claimTime is how long a claim of a request without a known outcome is valid: longer than any request takes, so that its write is
// visible by then.
const claimTime = 65 * time.Second

// claims record unique values that requests were allowed to use. A plugin that keeps two objects from having the same value
// looks for the other object, and its own is written some time later. Two concurrent requests would both look before either
// has written; with a claim, the second one finds that of the first. A claim ends with its request: by then the write is visible, or
// was refused. If nobody knows what became of the request, the claim ends when its time is over.
type claims struct {
	clock clock.PassiveClock

	mu    sync.Mutex
	taken map[string]map[string]claim
}

// claim is the value of an owner.
type claim struct {
	owner string
	// until has the time of each request that claims the value. The key nil stands for all requests whose outcome is unknown.
	until map[*outcome.Request]time.Time
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
	maps.DeleteFunc(all, func(_ string, by claim) bool {
		maps.DeleteFunc(by.until, func(_ *outcome.Request, end time.Time) bool { return !end.After(now) })
		return len(by.until) == 0
	})

	return all
}

// add records the claim of a request, and reports whether it has not claimed the value before. The caller holds the lock.
func (c *claims) add(from *outcome.Request, sort, thing, owner string) (first bool) {
	now := c.clock.Now()
	all := c.valid(sort, now)
	by, taken := all[thing]
	if !taken {
		by = claim{owner: owner, until: map[*outcome.Request]time.Time{}}
		all[thing] = by
	}
	_, again := by.until[from]
	by.until[from] = now.Add(claimTime)

	return !again
}

// follow ends the claim of a request together with the request.
func (c *claims) follow(from *outcome.Request, sort, thing, owner string) {
	from.Then(func(was outcome.Outcome) {
		c.mu.Lock()
		defer c.mu.Unlock()
		by := c.taken[sort][thing]
		until, there := by.until[from]
		if !there || by.owner != owner {
			return
		}
		if was == outcome.Unknown {
			by.until[nil] = latest(by.until[nil], until)
		}
		c.drop(from, sort, thing)
	})
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}

	return b
}

// drop removes the claim of a request. The caller holds the lock.
func (c *claims) drop(from *outcome.Request, sort, thing string) {
	by := c.taken[sort][thing]
	if delete(by.until, from); len(by.until) == 0 {
		delete(c.taken[sort], thing)
	}
}

// Claim claims a value of a type for an owner, and reports whether no other owner has claimed it with a request that may still be
// written. It must be called before the plugin reads existing objects.
func (w *World) Claim(ctx context.Context, sort, thing, owner string) bool {
	from := outcome.From(ctx)
	first, free := w.claims.claim(from, sort, thing, owner)
	if first {
		w.claims.follow(from, sort, thing, owner)
	}

	return free
}

func (c *claims) claim(from *outcome.Request, sort, thing, owner string) (first, free bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if by, taken := c.valid(sort, c.clock.Now())[thing]; taken && by.owner != owner {
		return false, false
	}

	return c.add(from, sort, thing, owner), true
}

// Announce claims a value of which there may be several of a type, and returns the other ones that were claimed before, and whether this
// one was not claimed by the same request. It must be called before the plugin counts existing objects.
func (w *World) Announce(ctx context.Context, sort, thing string) (others []string, first bool) {
	from := outcome.From(ctx)
	others, first = w.claims.announce(from, sort, thing)
	if first {
		w.claims.follow(from, sort, thing, thing)
	}

	return others, first
}

func (c *claims) announce(from *outcome.Request, sort, thing string) (others []string, first bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for other := range c.valid(sort, c.clock.Now()) {
		if other != thing {
			others = append(others, other)
		}
	}
	slices.Sort(others)

	return others, c.add(from, sort, thing, thing)
}

// Withdraw ends the claim of a request that the plugin refuses itself.
func (w *World) Withdraw(ctx context.Context, sort, thing string) {
	c := w.claims
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop(outcome.From(ctx), sort, thing)
}

// Release ends the claim of an owner that requests without a known outcome have left behind: what it was for is written, or will not
// be. Requests on their way keep their claims.
func (w *World) Release(sort, thing, owner string) {
	c := w.claims
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.taken[sort][thing].owner == owner {
		c.drop(nil, sort, thing)
	}
}
