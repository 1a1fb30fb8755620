// SPDX-License-Identifier: Apache-2.0

package fresh

import (
	"context"
	"math/rand/v2"
	"time"

	utilflowcontrol "k8s.io/apiserver/pkg/util/flowcontrol"
)

const (
	// bookmarked is the time between two bookmarks of a watch, spread by a quarter so that many watches do not get theirs together.
	bookmarked = time.Minute
	// beforeTheEnd is how long before the time limit of its request a watch gets the last one, so that the next watch of its client
	// goes on from there.
	beforeTheEnd = 2 * time.Second
)

// stay delivers what a watch selects for as long as it lasts: what there is after a revision, and then what the crowd tells of.
func (r *replay) stay(ctx context.Context, mine *selection, from int64) {
	defer r.end()
	defer mine.Stop()
	timer := r.store.clock.NewTimer(r.untilMark(ctx))
	defer timer.Stop()
	due := false
	// Until here it had one of the seats of its priority level. What it has missed is read for all such watches, by one of them at a time: others
	// that waited for it would keep seats for nothing, and requests of other kinds would wait for these.
	utilflowcontrol.WatchInitialized(ctx)
	for {
		upTo, ok := r.past(ctx)
		if !ok {
			return
		}
		joined, err := mine.join(ctx)
		if r.refuse(ctx, err); err != nil {
			return
		}
		if !joined {
			continue
		}
		// The first one tells the client that it was told of what it has missed.
		if due || from > 0 && upTo > from {
			if !r.mark(ctx, r.store.records.quietUntil(upTo)) {
				return
			}
		}
		from, due = 0, false
		select {
		case <-mine.member.wake:
		case <-timer.C():
			due = true
			timer.Reset(r.untilMark(ctx))
		case <-ctx.Done():
			return
		}
	}
}

// untilMark is the time until the next bookmark.
func (r *replay) untilMark(ctx context.Context) time.Duration {
	wait := bookmarked - rand.N(bookmarked/4) //nolint:gosec // not a secret
	deadline, limited := ctx.Deadline()
	if !limited {
		return wait
	}
	if last := deadline.Add(-beforeTheEnd).Sub(r.store.clock.Now()); last > 0 {
		return min(wait, last)
	}

	return wait
}
