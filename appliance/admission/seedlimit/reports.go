// SPDX-License-Identifier: Apache-2.0

package seedlimit

import (
	"fmt"
	"sync"

	"golang.org/x/time/rate"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/utils/clock"

	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

const (
	// A seed may report events at a rate with bursts: a gardenlet that restarts with a thousand shoots has some to tell about each of them.
	// Recorders count what happens again in the same event, and send at most one in five minutes about an object in the long run.
	eventsPerSecond = 10
	eventsAtOnce    = 5_000
	// The same for their size, as the server keeps them for an hour: a usual event has about a KiB.
	bytesPerSecond = 16 << 10
	bytesAtOnce    = 8 << 20
	// retryAfter is how many seconds a client waits that has reported too much.
	retryAfter = 5
)

// reports bounds the events that the clients of each seed write, and those of each self-hosted shoot.
type reports struct {
	clock clock.PassiveClock

	mu       sync.Mutex
	limiters map[string]limiter
}

// limiter bounds the events of a seed or a shoot.
type limiter struct{ events, bytes *rate.Limiter }

func newReports(c clock.PassiveClock) *reports {
	return &reports{clock: c, limiters: map[string]limiter{}}
}

// within returns an error, which asks to try again later, if the clients of a seed, or of a shoot, write more events than they may. A change counts like a
// new event: it is kept for as long, and both are versions in the store.
func (r *reports) within(a admission.Attributes, o admission.ObjectInterfaces, who string) error {
	if a.IsDryRun() {
		return nil
	}
	size, err := sizeOf(a, o)
	if err != nil {
		return err
	}
	limits, now := r.limiter(who), r.clock.Now()
	switch {
	case !limits.events.AllowN(now, 1):
		return apierrors.NewTooManyRequests(fmt.Sprintf("%s reports more than %d events a second", who, eventsPerSecond), retryAfter)
	case !limits.bytes.AllowN(now, min(size, bytesAtOnce)):
		return apierrors.NewTooManyRequests(fmt.Sprintf("%s reports more than %d bytes of events a second", who, bytesPerSecond), retryAfter)
	default:
		return nil
	}
}

// limiter returns the limiter of a seed or a shoot. Their clients have credentials of the garden, so there are not more limiters than there
// were of these.
func (r *reports) limiter(of string) limiter {
	r.mu.Lock()
	defer r.mu.Unlock()
	found, ok := r.limiters[of]
	if !ok {
		found = limiter{events: rate.NewLimiter(eventsPerSecond, eventsAtOnce), bytes: rate.NewLimiter(bytesPerSecond, bytesAtOnce)}
		r.limiters[of] = found
	}

	return found
}

// sizeOf is the size of an event in the store.
func sizeOf(a admission.Attributes, o admission.ObjectInterfaces) (int, error) {
	if a.GetResource().Group == eventsv1.GroupName {
		event, _, err := world.Objects[eventsv1.Event](a, o)
		if err != nil {
			return 0, err
		}

		return event.Size(), nil
	}
	event, _, err := world.Objects[corev1.Event](a, o)
	if err != nil {
		return 0, err
	}

	return event.Size(), nil
}
