// SPDX-License-Identifier: Apache-2.0

package addons

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// health answers requests for the health of the loops.
type health struct {
	mu sync.Mutex
	// last has the result of the last reconciliation of each loop.
	last map[string]error
}

func (h *health) note(loop string, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.last[loop] = err
}

// failures lists the loops whose last reconciliation failed, such as one that cannot write the firewall.
func (h *health) failures() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var failed []string
	for _, loop := range slices.Sorted(maps.Keys(h.last)) {
		if err := h.last[loop]; err != nil {
			failed = append(failed, fmt.Sprintf("%s: %v", loop, err))
		}
	}
	return strings.Join(failed, "\n")
}

func (h *health) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	if failed := h.failures(); failed != "" {
		http.Error(w, failed, http.StatusServiceUnavailable)
	}
}

// serve answers as long as the loops run.
func (h *health) serve(ctx context.Context, address string) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("listen for health: %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /healthz", h)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve health: %w", err)
	}
	return nil
}
