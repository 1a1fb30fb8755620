// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"time"

	"github.com/terrarium-garden/terrarium/appliance/apiserver"
	"github.com/terrarium-garden/terrarium/appliance/doctor"
)

// watchDatastore asks an external datastore for answers until ctx ends, so that /readyz and the log tell when it is away.
func (h *storeHealth) watchDatastore(ctx context.Context) {
	if h.stores.External == nil {
		return
	}
	tick := time.NewTicker(datastoreInterval)
	defer tick.Stop()
	for {
		err := h.stores.Ping(ctx)
		if ctx.Err() != nil {
			return
		}
		h.mu.Lock()
		was := h.away
		h.away = err
		if was == nil && err != nil {
			h.awaySince = h.clock.Now()
		}
		since := h.awaySince
		h.mu.Unlock()
		switch {
		case was == nil && err != nil:
			h.log.Error(err, "The datastore does not answer; requests fail until it does", "datastore", h.stores.External.String())
		case was != nil && err == nil:
			h.log.Info("The datastore answers again", "datastore", h.stores.External.String(), "away", h.clock.Since(since).Round(time.Second))
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// describeDatastore adds whether an external datastore answers.
func (h *storeHealth) describeDatastore(d *doctor.Datastore) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.away != nil {
		d.Away, d.AwaySince = h.away.Error(), h.awaySince
	}
}

// datastoreCheck is the check of /readyz that the datastore answers.
func (h *storeHealth) datastoreCheck() apiserver.ReadyCheck {
	return apiserver.ReadyCheck{Name: "terrarium/datastore", Check: func() error {
		h.mu.Lock()
		defer h.mu.Unlock()

		return h.away
	}}
}
