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

	mu sync.Mutex
	// taken has no empty maps: there may be a sort for each user or namespace.
	taken map[string]map[string]claim
	// swept is when all sorts were last searched for claims that have ended.
	swept time.Time
}

// claim is the value of an owner.
type claim struct {
	owner string
	// by has the mark of each request that claims the value. The key nil stands for all requests that have ended.
	by map[*outcome.Request]mark
}

// mark is what one request claims, and until when. The size is 0 for what has none.
type mark struct {
	until time.Time
	size  int64
}

// or returns a mark for two requests.
func (m mark) or(other mark) mark {
	if other.until.After(m.until) {
		m.until = other.until
	}
	m.size = max(m.size, other.size)

	return m
}

func newClaims(c clock.PassiveClock) *claims {
	return &claims{clock: c, taken: map[string]map[string]claim{}}
}

// valid returns the claims of a sort that have not ended. The caller holds the lock.
func (c *claims) valid(sort string, now time.Time) map[string]claim {
	all := c.taken[sort]
	maps.DeleteFunc(all, func(_ string, of claim) bool {
		maps.DeleteFunc(of.by, func(_ *outcome.Request, m mark) bool { return !m.until.After(now) })
		return len(of.by) == 0
	})
	if len(all) == 0 {
		delete(c.taken, sort)
	}

	return all
}

// sweep forgets the claims that have ended, also of sorts that nobody asks for any more. The caller holds the lock.
func (c *claims) sweep(now time.Time) {
	if now.Sub(c.swept) < claimTime {
		return
	}
	c.swept = now
	for sort := range c.taken {
		c.valid(sort, now)
	}
}

// add records the claim of a request, and reports whether it has not claimed the value before. The caller holds the lock.
func (c *claims) add(from *outcome.Request, sort, thing, owner string, size int64) (first bool) {
	now := c.clock.Now()
	c.sweep(now)
	all := c.valid(sort, now)
	if len(all) == 0 {
		all = map[string]claim{}
		c.taken[sort] = all
	}
	of, taken := all[thing]
	if !taken {
		of = claim{owner: owner, by: map[*outcome.Request]mark{}}
		all[thing] = of
	}
	before, again := of.by[from]
	of.by[from] = mark{until: now.Add(claimTime), size: size}.or(before)

	return !again
}

// follow ends the claim of a request together with the request, except after some outcomes: then it ends when its time is over.
func (c *claims) follow(from *outcome.Request, sort, thing, owner string, except ...outcome.Outcome) {
	from.Then(func(was outcome.Outcome) {
		c.mu.Lock()
		defer c.mu.Unlock()
		of := c.taken[sort][thing]
		m, there := of.by[from]
		if !there || of.owner != owner {
			return
		}
		if slices.Contains(except, was) {
			of.by[nil] = of.by[nil].or(m)
		}
		c.drop(from, sort, thing)
	})
}

// drop removes the claim of a request. The caller holds the lock.
func (c *claims) drop(from *outcome.Request, sort, thing string) {
	all := c.taken[sort]
	by := all[thing].by
	if delete(by, from); len(by) == 0 {
		delete(all, thing)
	}
	if len(all) == 0 {
		delete(c.taken, sort)
	}
}

// Claim claims a value of a type for an owner, and reports whether no other owner has claimed it with a request that may still be
// written. It must be called before the plugin reads existing objects.
func (w *World) Claim(ctx context.Context, sort, thing, owner string) bool {
	from := outcome.From(ctx)
	first, free := w.claims.claim(from, sort, thing, owner)
	if first {
		w.claims.follow(from, sort, thing, owner, outcome.Unknown)
	}

	return free
}

func (c *claims) claim(from *outcome.Request, sort, thing, owner string) (first, free bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if by, taken := c.valid(sort, c.clock.Now())[thing]; taken && by.owner != owner {
		return false, false
	}

	return c.add(from, sort, thing, owner, 0), true
}

// Announce claims a value of which there may be several of a type, and returns the other ones that were claimed before, and whether this
// one was not claimed by the same request. It must be called before the plugin counts existing objects.
func (w *World) Announce(ctx context.Context, sort, thing string) (others []string, first bool) {
	from := outcome.From(ctx)
	others, first = w.claims.announce(from, sort, thing)
	if first {
		w.claims.follow(from, sort, thing, thing, outcome.Unknown)
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

	return others, c.add(from, sort, thing, thing, 0)
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
