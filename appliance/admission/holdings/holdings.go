// SPDX-License-Identifier: Apache-2.0

package holdings

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/clock"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/outcome"
)

// keep is how long a claim is valid, and how long a deleted shoot is remembered: longer than any request takes, so that its
// write is known by then.
const keep = 65 * time.Second

// Request is a request that wants to take something.
type Request struct {
	// Owner is namespace/name of the shoot.
	Owner string
	// Version is the resource version of the shoot that the request was judged on, or empty if it creates the shoot.
	Version string
	// DryRun says that nothing will be written, so that nothing is claimed.
	DryRun bool
	// Outcome tells what becomes of the request. Once that is known, its claims end, except those of a written shoot on quotas.
	Outcome *outcome.Request
}

// Verdict is the answer to a request for a domain.
type Verdict int

const (
	// Free says that the shoot may have the domain.
	Free Verdict = iota
	// Requested says that another request has just been allowed to use the domain, or one above or below it.
	Requested
	// Used says that another shoot has the domain.
	Used
	// Nested says that another shoot has a domain above or below it.
	Nested
)

// Holdings is safe for concurrent use.
type Holdings struct {
	clock clock.PassiveClock

	// loading is held while all shoots are listed.
	loading sync.Mutex

	mu     sync.Mutex
	loaded bool
	// shoots are those that were written, those without holdings and those deleted a short time ago included.
	shoots map[string]written
	// domains has those of written shoots, claimed those that requests may use.
	domains, claimed domains
	// places has the shoots of each seed, both written and claimed.
	places holders
	// claims are in the order in which they expire, those that were ended early included; open is by owner.
	claims []*claim
	open   map[string][]*claim
	// uses are claims on quotas.
	uses uses
	// deleted are shoots to be forgotten, in the order of their deletion.
	deleted []deletion
}

type written struct {
	version uint64
	gone    bool
	domain  string
	seeds   [2]string
}

// claim is a domain or a place on a seed.
type claim struct {
	owner, domain, seed string
	// judged is the version of the shoot that the request was judged on; 0 for one that creates the shoot.
	judged uint64
	until  time.Time
	ended  bool
}

type deletion struct {
	owner   string
	version uint64
	until   time.Time
}

// New returns holdings of a garden of which nothing is known yet.
func New(c clock.PassiveClock) *Holdings {
	return &Holdings{
		clock: c, shoots: map[string]written{}, domains: newDomains(), claimed: newDomains(), places: holders{}, open: map[string][]*claim{},
		uses: newUses(),
	}
}

// Load lists all shoots when it is called for the first time. What is written meanwhile counts.
func (h *Holdings) Load(ctx context.Context, list func(ctx context.Context) ([]gardencorev1beta1.Shoot, error)) error {
	h.loading.Lock()
	defer h.loading.Unlock()
	if h.complete() {
		return nil
	}
	shoots, err := list(ctx)
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range shoots {
		h.set(ownerOf(&shoots[i]), of(&shoots[i]))
	}
	h.loaded = true
	return nil
}

func (h *Holdings) complete() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.loaded
}

// Changed is told of a written change of an object; see package observe. Objects other than shoots are ignored.
func (h *Holdings) Changed(_ context.Context, before, after runtime.Object) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.forget()
	is, live := after.(*gardencorev1beta1.Shoot)
	if live {
		now := of(is)
		h.set(ownerOf(is), now)
		h.end(ownerOf(is), now.version)
		if before == nil {
			h.uses.created(ownerOf(is), now.version)
		}
		return
	}
	if was, ok := before.(*gardencorev1beta1.Shoot); ok {
		owner, version := ownerOf(was), of(was).version
		h.set(owner, written{version: version, gone: true})
		h.uses.deleted(owner, version)
		h.deleted = append(h.deleted, deletion{owner: owner, version: version, until: h.clock.Now().Add(keep)})
	}
}

func ownerOf(shoot *gardencorev1beta1.Shoot) string { return shoot.Namespace + "/" + shoot.Name }

func of(shoot *gardencorev1beta1.Shoot) written {
	w := written{version: number(shoot.ResourceVersion), domain: query.Domain(shoot.Spec.DNS)}
	copy(w.seeds[:], query.Seeds(shoot))
	return w
}

// number reads a resource version; only this server's store writes them.
func number(version string) uint64 {
	n, err := strconv.ParseUint(version, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// set records a shoot, unless something newer is known of it: writers tell of their changes in any order. A deletion may have
// the version of the last write.
func (h *Holdings) set(owner string, is written) {
	was, known := h.shoots[owner]
	if known && (is.version < was.version || is.version == was.version && !is.gone) {
		return
	}
	h.count(owner, was, -1)
	h.count(owner, is, +1)
	h.shoots[owner] = is
}

func (h *Holdings) count(owner string, what written, by int) {
	h.domains.add(what.domain, owner, by)
	for _, seed := range what.seeds {
		if seed != "" {
			h.places.add(seed, owner, by)
		}
	}
}

// Domain decides whether a shoot may have a domain, and claims it.
func (h *Holdings) Domain(r Request, domain string) Verdict {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.forget()
	switch same, nested := h.domains.find(domain, r.Owner); {
	case same:
		return Used
	case nested:
		return Nested
	}
	if same, nested := h.claimed.find(domain, r.Owner); same || nested {
		return Requested
	}
	h.claim(r, claim{domain: domain})
	return Free
}

// Place decides whether a seed with a limited number of places has one for a shoot, and claims it. It returns how many other
// shoots there are.
func (h *Holdings) Place(r Request, seed string, limit int64) (others int64, free bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.forget()
	others = h.places.count(seed, r.Owner)
	if others >= limit {
		return others, false
	}
	h.claim(r, claim{seed: seed})
	return others, true
}

// Others returns how many shoots other than the owner a seed has, those included that requests have just been allowed to place.
func (h *Holdings) Others(owner, seed string) int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.forget()
	return h.places.count(seed, owner)
}

// count is the number of owners other than this one.
func (h holders) count(thing, owner string) int64 {
	n := int64(len(h[thing]))
	if h[thing][owner] > 0 {
		n--
	}
	return n
}

// On returns the shoots that are bound to a seed or run there, in the form namespace/name, sorted.
func (h *Holdings) On(seed string) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var on []string
	for owner := range h.places[seed] {
		if w := h.shoots[owner]; slices.Contains(w.seeds[:], seed) {
			on = append(on, owner)
		}
	}
	slices.Sort(on)
	return on
}

// All returns all shoots in the form namespace/name, sorted.
func (h *Holdings) All() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.DeleteFunc(slices.Sorted(maps.Keys(h.shoots)), func(owner string) bool { return h.shoots[owner].gone })
}

func (h *Holdings) claim(r Request, what claim) {
	if r.DryRun {
		return
	}
	what.owner, what.judged, what.until = r.Owner, number(r.Version), h.clock.Now().Add(keep)
	h.take(&what, +1)
	h.claims = append(h.claims, &what)
	h.open[r.Owner] = append(h.open[r.Owner], &what)
	// What was written is known by then.
	r.ended(h, func(outcome.Outcome) {
		h.release(&what)
		h.tidy(what.owner)
	})
}

// ended calls a function with the lock if the request ends and its outcome is known. The caller holds the lock: a request that has ended
// already has an unknown outcome, so that nothing is called at once.
func (r Request) ended(h *Holdings, do func(was outcome.Outcome)) {
	r.Outcome.Then(func(was outcome.Outcome) {
		if was == outcome.Unknown {
			return
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		do(was)
	})
}

func (h *Holdings) take(c *claim, by int) {
	h.claimed.add(c.domain, c.owner, by)
	if c.seed != "" {
		h.places.add(c.seed, c.owner, by)
	}
}

// end ends the claims of requests that a write has overtaken, that of the write itself included: whatever else was judged on an
// older version of the shoot is refused by the store and judged again. Requests that create the shoot may still be on their way
// when it is deleted again, so their claims end by time only.
func (h *Holdings) end(owner string, version uint64) {
	for _, c := range h.open[owner] {
		if c.judged != 0 && c.judged < version {
			h.release(c)
		}
	}
	h.tidy(owner)
}

func (h *Holdings) release(c *claim) {
	if !c.ended {
		c.ended = true
		h.take(c, -1)
	}
}

func (h *Holdings) tidy(owner string) {
	left := slices.DeleteFunc(h.open[owner], func(c *claim) bool { return c.ended })
	if h.open[owner] = left; len(left) == 0 {
		delete(h.open, owner)
	}
}

// forget ends the claims and forgets the deleted shoots whose time is over.
func (h *Holdings) forget() {
	now := h.clock.Now()
	h.uses.forget(now)
	for len(h.claims) > 0 && (h.claims[0].ended || !h.claims[0].until.After(now)) {
		over := h.claims[0]
		h.claims = h.claims[1:]
		h.release(over)
		h.tidy(over.owner)
	}
	for len(h.deleted) > 0 && !h.deleted[0].until.After(now) {
		over := h.deleted[0]
		h.deleted = h.deleted[1:]
		if w := h.shoots[over.owner]; w.gone && w.version == over.version {
			delete(h.shoots, over.owner)
		}
	}
}
