// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"context"
	"time"
)

// Outcome says what follows a phase. The zero value continues with the next one.
type Outcome struct {
	stop  bool
	after time.Duration
}

// Continue goes on with the next phase.
func Continue() Outcome { return Outcome{} }

// Stop ends the pass without an error; the next event starts another one.
func Stop() Outcome { return Outcome{stop: true} }

// longestWait is how long something that is due at a time of the clock is not looked at.
const longestWait = 10 * time.Minute

// Until bounds the wait for a time of the clock. Timers do not run while a machine is suspended, and are not moved if its clock is set, so a pass
// that comes before that time has to wait anew.
func Until(left time.Duration) time.Duration { return min(left, longestWait) }

// RequeueAfter ends the pass without an error and starts another one after the given time.
func RequeueAfter(after time.Duration) Outcome { return Outcome{stop: true, after: after} }

// RecheckAfter goes on with the next phase; another pass starts after the given time at the latest.
func RecheckAfter(after time.Duration) Outcome { return Outcome{after: after} }

// Stopped reports whether the following phases are skipped.
func (o Outcome) Stopped() bool { return o.stop }

// After is the time after which the next pass starts without an event; 0 means that only an event starts it.
func (o Outcome) After() time.Duration { return o.after }

// Phase is one step of a reconciliation. It reads what it needs, acts, and keeps what it found in the scope. It must be
// safe to repeat.
type Phase[S any] func(ctx context.Context, scope S) (Outcome, error)

// Run runs the phases in their order until one stops or fails. The shortest of the requested delays is used.
func Run[S any](ctx context.Context, scope S, phases ...Phase[S]) (Outcome, error) {
	var sum Outcome
	for _, phase := range phases {
		outcome, err := phase(ctx, scope)
		if err != nil {
			return sum, err
		}
		sum = sum.merge(outcome)
		if sum.stop {
			return sum, nil
		}
	}
	return sum, nil
}

func (o Outcome) merge(next Outcome) Outcome {
	merged := Outcome{stop: o.stop || next.stop, after: o.after}
	if next.after > 0 && (o.after == 0 || next.after < o.after) {
		merged.after = next.after
	}
	return merged
}
