// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"slices"
	"time"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/doctor"
)

// seedsStatus counts the seeds.
type seedsStatus struct {
	Total   int `json:"total"`
	Ready   int `json:"ready"`
	Revoked int `json:"revoked"`
	// Versions counts the gardenlets by their version, and Skewed are those whose version is too far from that of the server.
	Versions map[string]int `json:"versions,omitempty"`
	Skewed   int            `json:"skewed"`
}

// shootsStatus counts the shoots by the state of their last operation.
type shootsStatus struct {
	Total   int            `json:"total"`
	ByState map[string]int `json:"byState,omitempty"`
}

// digestAge is how long the counts in the status are used again: pages ask for the status every few seconds.
const digestAge = 5 * time.Second

// digest is what the status says about objects and findings.
type digest struct {
	at       time.Time
	seeds    *seedsStatus
	shoots   *shootsStatus
	findings *doctor.Count
}

// digest returns the counts. They are left out while the server starts.
func (e *examiner) digest(ctx context.Context) digest {
	now := e.clock.Now()
	if d := e.digested.Load(); d != nil && now.Sub(d.at) < digestAge && !now.Before(d.at) {
		return *d
	}
	reader := e.reader()
	if reader == nil {
		return digest{}
	}
	f := e.facts()
	if err := readObjects(ctx, *reader, f); err != nil {
		return digest{}
	}
	d := &digest{at: now, seeds: countSeeds(f), shoots: countShoots(f.Shoots), findings: new(doctor.Examine(f).Count())}
	e.digested.Store(d)

	return *d
}

func countSeeds(f *doctor.Facts) *seedsStatus {
	n := &seedsStatus{Total: len(f.Seeds), Versions: map[string]int{}}
	for i := range f.Seeds {
		conditions := f.Seeds[i].Status.Conditions
		if gardenlet := f.Seeds[i].Status.Gardener; gardenlet != nil {
			n.Versions[gardenlet.Version]++
		}
		if _, skewed := doctor.Skewed(&f.Seeds[i], f.Version); skewed {
			n.Skewed++
		}
		if slices.Contains(f.Revoked, f.Seeds[i].Name) {
			n.Revoked++
		}
		if len(conditions) > 0 && !slices.ContainsFunc(conditions, func(c gardencorev1beta1.Condition) bool {
			return c.Status != gardencorev1beta1.ConditionTrue
		}) {
			n.Ready++
		}
	}

	return n
}

// statePending is the state of a shoot without an operation.
const statePending = "Pending"

func countShoots(shoots []gardencorev1beta1.Shoot) *shootsStatus {
	n := &shootsStatus{Total: len(shoots), ByState: map[string]int{}}
	for i := range shoots {
		state := statePending
		if last := shoots[i].Status.LastOperation; last != nil {
			state = string(last.State)
		}
		n.ByState[state]++
	}

	return n
}
