// SPDX-License-Identifier: Apache-2.0

package holdings

import (
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/terrarium-garden/terrarium/appliance/admission/outcome"
)

// keepUses is how long a claim on a quota counts. The request that claims and the request that has listed shoots before its write
// take a minute at most each.
const keepUses = 125 * time.Second

// Use is what a shoot would use of a quota.
type Use struct {
	// Quota names the quota, and the project if only its shoots share the quota.
	Quota string
	// Wanted is what the shoot would use.
	Wanted corev1.ResourceList
	// Listed are the shoots that share the quota, in the form namespace/name; it does not matter whether the one that asks is among
	// them. The request itself has listed them, from a view with all writes that were acknowledged before.
	Listed map[string]Listed
}

// Listed is a shoot as a request has found it.
type Listed struct {
	// Version is its resource version.
	Version string
	// Uses is what it uses.
	Uses corev1.ResourceList
}

// uses are claims on quotas. They are in the order in which they expire, everywhere.
type uses struct {
	all      []*use
	of, from map[string][]*use
}

// use is what one request was allowed to use of quotas.
type use struct {
	owner  string
	wanted map[string]corev1.ResourceList
	// judged is the version of the shoot that the request was judged on; 0 for one that creates the shoot.
	judged uint64
	until  time.Time
	ended  bool
}

func newUses() uses { return uses{of: map[string][]*use{}, from: map[string][]*use{}} }

// Use claims what a shoot wants of quotas if all of it fits. fits is told which use it is about and what the other shoots use, those
// included that requests have just been allowed to write, and must not wait for anything. The claims of other requests are looked
// at after the shoots were listed and in one step with the own claim. So of two requests at once the second one finds the first
// one either in its list or in the claims.
func (h *Holdings) Use(r Request, wanted []Use, fits func(use int, others corev1.ResourceList) error) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.forget()
	var errs []error
	for i := range wanted {
		others, claimed := h.uses.others(r.Owner, &wanted[i])
		err := fits(i, others)
		if err != nil && claimed {
			err = fmt.Errorf("%w; that includes what others have requested in the last two minutes, try again then", err)
		}
		errs = append(errs, err)
	}
	if err := errors.Join(errs...); err != nil || r.DryRun {
		return err
	}
	claimed := h.uses.add(r, wanted, h.clock.Now().Add(keepUses))
	// Others may have listed shoots before this one was written, and ask afterwards. An answer that refuses does not say that nothing was
	// written: a client may ask for the answer in a form that does not exist.
	r.ended(h, func(was outcome.Outcome) {
		claimed.ended = claimed.ended || was == outcome.Refused && h.shoots[r.Owner].version <= claimed.judged
	})
	return nil
}

func (u *uses) add(r Request, wanted []Use, until time.Time) *use {
	c := &use{owner: r.Owner, judged: number(r.Version), until: until, wanted: map[string]corev1.ResourceList{}}
	for i := range wanted {
		if name := wanted[i].Quota; c.wanted[name] == nil {
			c.wanted[name] = wanted[i].Wanted
			u.of[name] = append(u.of[name], c)
		}
	}
	u.all = append(u.all, c)
	u.from[r.Owner] = append(u.from[r.Owner], c)
	return c
}

// others adds up what all shoots but one use of a quota: each as it was listed, or as its requests want it if that is more. It
// reports whether requests make a difference.
func (u *uses) others(owner string, what *Use) (total corev1.ResourceList, claimed bool) {
	each := make(map[string]corev1.ResourceList, len(what.Listed))
	for name, listed := range what.Listed {
		each[name] = listed.Uses
	}
	for _, c := range u.of[what.Quota] {
		listed, there := what.Listed[c.owner]
		if c.ended || c.owner == owner || there && number(listed.Version) > c.judged {
			continue
		}
		each[c.owner] = larger(each[c.owner], c.wanted[what.Quota])
		claimed = true
	}
	delete(each, owner)
	total = corev1.ResourceList{}
	for _, of := range each {
		for name, quantity := range of {
			sum := total[name]
			sum.Add(quantity)
			total[name] = sum
		}
	}
	return total, claimed
}

// larger has the larger quantity of each resource.
func larger(a, b corev1.ResourceList) corev1.ResourceList {
	most := corev1.ResourceList{}
	for _, list := range []corev1.ResourceList{a, b} {
		for name, quantity := range list {
			if is, known := most[name]; !known || quantity.Cmp(is) > 0 {
				most[name] = quantity
			}
		}
	}
	return most
}

// created is told that a shoot was created. If only one request for that is known, it was this one.
func (u *uses) created(owner string, version uint64) {
	var only *use
	for _, c := range u.from[owner] {
		if c.judged != 0 || c.ended {
			continue
		}
		if only != nil {
			return
		}
		only = c
	}
	if only != nil && version > 1 {
		only.judged = version - 1
	}
}

// deleted is told that a shoot is gone. Claims of requests that may still create it again stay.
func (u *uses) deleted(owner string, version uint64) {
	for _, c := range u.from[owner] {
		c.ended = c.ended || c.judged != 0 && c.judged < version
	}
}

// forget drops the claims whose time is over.
func (u *uses) forget(now time.Time) {
	for len(u.all) > 0 && !u.all[0].until.After(now) {
		over := u.all[0]
		u.all = u.all[1:]
		first(u.from, over.owner)
		for quota := range over.wanted {
			first(u.of, quota)
		}
	}
}

// first drops the first claim of a name.
func first(of map[string][]*use, name string) {
	if of[name] = of[name][1:]; len(of[name]) == 0 {
		delete(of, name)
	}
}
