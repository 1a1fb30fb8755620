// SPDX-License-Identifier: Apache-2.0

package lease

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
)

// Health is a flag that becomes false by itself unless it is set again in time (GLET-LEASE-5).
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
	h.until = time.Time{}
	if healthy {
		h.until = h.clock.Now().Add(h.window)
	}
}

// Healthy reads the flag.
func (h *Health) Healthy() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.clock.Now().Before(h.until)
}

// NewProbe returns a function that asks an API server for /healthz. Only status 200 is success (GLET-LEASE-1).
func NewProbe(config *rest.Config) (func(ctx context.Context) error, error) {
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("build client for the health of the seed: %w", err)
	}
	return func(ctx context.Context) error {
		status := 0
		err := clients.Discovery().RESTClient().Get().AbsPath("/healthz").Do(ctx).StatusCode(&status).Error()
		if err != nil {
			return fmt.Errorf("ask the seed's API server for /healthz: %w", err)
		}
		if status != http.StatusOK {
			return fmt.Errorf("ask the seed's API server for /healthz: got status %d", status)
		}
		return nil
	}, nil
}
