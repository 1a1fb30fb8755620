// SPDX-License-Identifier: Apache-2.0

package lease

import (
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// Health is a flag that falls back to false by itself unless it is set again in time (GLET-LEASE-5).
type Health struct {
	clock  clock.PassiveClock
	window time.Duration

	mu    sync.Mutex
	until time.Time
}

// NewHealth makes a flag that stays true for the window after it was set. It begins with false.
func NewHealth(clk clock.PassiveClock, window time.Duration) *Health {
	return &Health{clock: clk, window: window}
}

// Set sets the flag.
func (h *Health) Set(healthy bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !healthy {
		h.until = time.Time{}
		return
	}
	h.until = h.clock.Now().Add(h.window)
}

// Healthy reads the flag.
func (h *Health) Healthy() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.clock.Now().Before(h.until)
}
