// SPDX-License-Identifier: Apache-2.0

package holdings

import "strings"

// owners counts how often each owner holds something.
type owners map[string]int

// others reports whether anyone but the owner holds it.
func (o owners) others(owner string) bool {
	return len(o) > 1 || len(o) == 1 && o[owner] == 0
}

// holders maps things to their owners.
type holders map[string]owners

// add changes the number of times that an owner holds a thing.
func (h holders) add(thing, owner string, by int) {
	all := h[thing]
	if all == nil {
		all = owners{}
		h[thing] = all
	}
	if all[owner] += by; all[owner] <= 0 {
		delete(all, owner)
	}
	if len(all) == 0 {
		delete(h, thing)
	}
}

// domains finds domains that are equal to, above or below another one, in a time that depends only on the number of labels.
type domains struct {
	// exact has each domain, within also all domains above it.
	exact, within holders
}

func newDomains() domains { return domains{exact: holders{}, within: holders{}} }

func (d domains) add(domain, owner string, by int) {
	if domain == "" {
		return
	}
	d.exact.add(domain, owner, by)
	d.within.add(domain, owner, by)
	for above := range parents(domain) {
		d.within.add(above, owner, by)
	}
}

// find reports whether another owner has the domain, or one above or below it.
func (d domains) find(domain, owner string) (same, nested bool) {
	if d.exact[domain].others(owner) {
		return true, false
	}
	if d.within[domain].others(owner) {
		return false, true
	}
	for above := range parents(domain) {
		if d.exact[above].others(owner) {
			return false, true
		}
	}
	return false, false
}

// parents yields the domains above a domain, from the nearest one up.
func parents(domain string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for {
			_, above, found := strings.Cut(domain, ".")
			if !found || !yield(above) {
				return
			}
			domain = above
		}
	}
}
