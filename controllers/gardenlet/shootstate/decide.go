// SPDX-License-Identifier: Apache-2.0

package shootstate

import (
	"time"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

const (
	// retry is the time until a state is tried again that could not be written now.
	retry = 10 * time.Minute
	// mostJitter is how much earlier or later than its period a state is written at most.
	mostJitter = 15 * time.Minute
)

// Schedule says when states are written (GLET-STATE-2).
type Schedule struct {
	// Period is the time between two writes of a state.
	Period time.Duration
	// Random returns a random time below a limit that is not 0.
	Random func(limit time.Duration) time.Duration
}

// First is how long a shoot waits that is there when the gardenlet starts. All that are due then are written in a sixth of the period.
func (s Schedule) First() time.Duration { return s.random(s.Period / 6) }

// Next is the time from one write of a state to the next.
func (s Schedule) Next() time.Duration { return s.Period - s.jitter() + s.random(2*s.jitter()) }

// Due is the time until a state has to be written that was written last at the given time; 0 if it is due. A state without a time is due, and so is
// one with a time to come, which no clock has shown.
func (s Schedule) Due(last, now time.Time) time.Duration {
	if last.IsZero() || last.After(now) || !now.Before(last.Add(s.Period-s.jitter())) {
		return 0
	}
	return last.Add(s.Next()).Sub(now)
}

// jitter is shorter for periods with which it would count for too much.
func (s Schedule) jitter() time.Duration { return min(mostJitter, s.Period/4) }

func (s Schedule) random(limit time.Duration) time.Duration {
	if limit <= 0 {
		return 0
	}
	return s.Random(limit)
}

// Settled reports whether the control plane of a shoot is whole and stays on its seed. One that is still being created has no state yet, and
// while it moves, its state is what the new seed reads.
func Settled(s *gardencorev1beta1.Shoot) bool {
	last := s.Status.LastOperation
	if last == nil || s.Status.TechnicalID == "" || query.Moving(s) != "" {
		return false
	}
	return last.Type != gardencorev1beta1.LastOperationTypeCreate || last.State == gardencorev1beta1.LastOperationStateSucceeded
}
