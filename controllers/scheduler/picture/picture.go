// SPDX-License-Identifier: Apache-2.0

// Package picture is what the scheduler knows of the seeds of a garden and of the number of shoots on each. It is kept up to
// date by watches, one object at a time, so that nothing has to be listed or counted to place a shoot.
//
// A placement is assumed before it is written: from then on it counts, although no watch has shown it yet. Otherwise, shoots
// that are placed at the same time would all go to the seed that was the emptiest before the first of them. An assumption ends
// when a watch shows the shoot with a seed or its deletion, when the binding is refused, and after a while in any case.
package picture

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// Expiry is how long a placement is assumed that no watch shows: longer than a request can take, so that a binding whose
// outcome is not known is either seen or has failed by then.
const Expiry = 2 * time.Minute

// ErrPlaced says that a shoot has a seed already, although the caller's copy of it has none yet.
var ErrPlaced = errors.New("the shoot has a seed already")

// Usage is the number of shoots of each seed. A shoot counts for the seed it is bound to or meant for, and once more for the
// seed that still runs its control plane (SCHED-USAGE-1). Shoots in deletion count.
type Usage map[string]int

// Picture is safe for concurrent use.
type Picture struct {
	clock clock.PassiveClock

	mu sync.Mutex
	// seeds are sorted by name. The slice and the seeds are shared with readers and never changed.
	seeds []*gardencorev1beta1.Seed
	// shoots are those with a seed, seen or assumed.
	shoots map[types.NamespacedName]tenant
	used   Usage
	// deadlines are those of all assumptions in their order, those that have ended included.
	deadlines []deadline
}

// tenant is a shoot with a seed. Watches and attempts are not in step, so a shoot and a later one of the same name are told apart
// by their UIDs.
type tenant struct {
	// uid is that of the shoot that a watch has shown last, bound and running are its seeds in spec and status.
	uid            types.UID
	bound, running string
	// assumed is the placement that no watch has shown yet.
	assumed assumption
}

type assumption struct {
	seed string
	uid  types.UID
	// until is when it expires. It tells assumptions for the same shoot apart.
	until time.Time
	// written says that the binding was accepted.
	written bool
}

type deadline struct {
	shoot types.NamespacedName
	until time.Time
}

// New returns a picture without seeds and shoots.
func New(c clock.PassiveClock) *Picture {
	return &Picture{clock: c, shoots: map[types.NamespacedName]tenant{}, used: Usage{}}
}

// Seeds returns all seeds in the order of their names. They must not be changed.
func (p *Picture) Seeds() []*gardencorev1beta1.Seed {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.seeds
}

// SetSeed adds a seed, or replaces the one of this name. The picture keeps the seed, so it must not be changed any more.
func (p *Picture) SetSeed(seed *gardencorev1beta1.Seed) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at, found := slices.BinarySearchFunc(p.seeds, seed.Name, byName)
	if found {
		p.seeds = slices.Clone(p.seeds)
		p.seeds[at] = seed
		return
	}
	p.seeds = slices.Insert(slices.Clip(p.seeds), at, seed) // Clipped, so that it is copied.
}

// RemoveSeed removes a seed. Its shoots still count: a seed of the same name may come back.
func (p *Picture) RemoveSeed(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seeds = slices.DeleteFunc(slices.Clone(p.seeds), func(seed *gardencorev1beta1.Seed) bool { return seed.Name == name })
}

func byName(seed *gardencorev1beta1.Seed, name string) int { return strings.Compare(seed.Name, name) }

// SetShoot records the seeds of a shoot that a watch has shown. An assumption for it ends once the shoot has a seed, be it
// another one.
func (p *Picture) SetShoot(shoot *gardencorev1beta1.Shoot) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.change(client.ObjectKeyFromObject(shoot), func(t *tenant) {
		t.uid, t.bound, t.running = shoot.UID, ptr.Deref(shoot.Spec.SeedName, ""), ptr.Deref(shoot.Status.SeedName, "")
		if t.bound != "" {
			t.end(shoot)
		}
	})
}

// RemoveShoot forgets a shoot that was deleted, and any assumption for it.
func (p *Picture) RemoveShoot(shoot *gardencorev1beta1.Shoot) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.change(client.ObjectKeyFromObject(shoot), func(t *tenant) {
		t.uid, t.bound, t.running = "", "", ""
		t.end(shoot)
	})
}

// Assume lets choose find a seed for a shoot and assumes that it gets it. No other shoot is placed meanwhile, so choose must be
// quick; it must not keep the usage. An earlier assumption for the shoot does not count. The error is that of choose, or
// ErrPlaced if the shoot has a seed.
func (p *Picture) Assume(shoot *gardencorev1beta1.Shoot, choose func(Usage) (string, error)) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.expire()
	key := client.ObjectKeyFromObject(shoot)
	if t := p.shoots[key]; t.bound != "" && t.uid == shoot.UID || t.assumed.written && t.assumed.uid == shoot.UID {
		return "", ErrPlaced
	}
	p.change(key, func(t *tenant) { t.assumed = assumption{} })
	seed, err := choose(p.used)
	if err != nil {
		return "", err
	}
	until := p.clock.Now().Add(Expiry)
	p.change(key, func(t *tenant) { t.assumed = assumption{seed: seed, uid: shoot.UID, until: until} })
	p.deadlines = append(p.deadlines, deadline{shoot: key, until: until})
	return seed, nil
}

// Written records that the binding of a shoot was accepted. Until a watch shows it, the shoot is not placed again.
func (p *Picture) Written(shoot *gardencorev1beta1.Shoot) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.change(client.ObjectKeyFromObject(shoot), func(t *tenant) {
		t.assumed.written = t.assumed.seed != "" && t.assumed.uid == shoot.UID
	})
}

// Forget ends the assumption for a shoot whose binding was refused.
func (p *Picture) Forget(shoot *gardencorev1beta1.Shoot) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.change(client.ObjectKeyFromObject(shoot), func(t *tenant) { t.end(shoot) })
}

// end ends the assumption for a shoot, but not that for another one of its name.
func (t *tenant) end(shoot *gardencorev1beta1.Shoot) {
	if t.assumed.uid == shoot.UID {
		t.assumed = assumption{}
	}
}

// Used returns the number of shoots on a seed.
func (p *Picture) Used(seed string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.expire()
	return p.used[seed]
}

// expire ends the assumptions whose time is over.
func (p *Picture) expire() {
	now := p.clock.Now()
	for len(p.deadlines) > 0 && !p.deadlines[0].until.After(now) {
		over := p.deadlines[0]
		p.deadlines = p.deadlines[1:]
		if p.shoots[over.shoot].assumed.until.Equal(over.until) {
			p.change(over.shoot, func(t *tenant) { t.assumed = assumption{} })
		}
	}
}

// change changes what is known of a shoot and keeps the usage right.
func (p *Picture) change(key types.NamespacedName, to func(*tenant)) {
	t, known := p.shoots[key]
	before := t.seeds()
	to(&t)
	after := t.seeds()
	p.count(before, -1)
	p.count(after, +1)
	switch {
	case after != [3]string{}:
		p.shoots[key] = t
	case known:
		delete(p.shoots, key)
	}
}

// seeds are the seeds for which a shoot counts, each once. Empty names do not count.
func (t *tenant) seeds() [3]string {
	all := [3]string{t.bound, t.running, t.assumed.seed}
	if all[1] == all[0] {
		all[1] = ""
	}
	if all[2] == all[0] || all[2] == all[1] {
		all[2] = ""
	}
	return all
}

func (p *Picture) count(seeds [3]string, by int) {
	for _, seed := range seeds {
		if seed == "" {
			continue
		}
		p.used[seed] += by
		if p.used[seed] == 0 {
			delete(p.used, seed)
		}
	}
}
