// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"time"

	"github.com/terrarium-garden/terrarium/appliance/doctor"
	"github.com/terrarium-garden/terrarium/storage/generations"
)

// keyHolder is a server of the garden, and which keys it has.
type keyHolder struct {
	Address string `json:"address"`
	// Generation is that of its keys.
	Generation int64 `json:"generation"`
	// Leads, Runs and Current say that it leads, that it has been seen in the last seconds, and that it has the newest keys.
	Leads   bool `json:"leads"`
	Runs    bool `json:"runs"`
	Current bool `json:"current"`
	// Seen is when it was last seen, by its own clock.
	Seen time.Time `json:"seen"`
	// Failure is why it cannot take up the newest keys, or could not take the lead.
	Failure string `json:"failure,omitempty"`

	// since is when it was first seen with an older generation.
	since time.Time
}

// holders are the servers that share the keys of the garden.
type holders struct {
	generation int64
	all        []keyHolder
}

// look notes which servers have which keys, and forgets those that have been off for long.
func (s *sharing) look(ctx context.Context) {
	all, err := s.observer.Servers(ctx)
	if err != nil {
		return // The datastore is away, which others report.
	}
	held, err := s.keys.Sharing.Held()
	if err != nil {
		return
	}
	now, before := s.Clock.Now(), s.holders.Load()
	is := &holders{generation: held.Number}
	for _, other := range all {
		if !other.Runs && now.Sub(other.Noted) > generations.Memory {
			s.tell(ctx, s.store.Forget(ctx, other.Address))

			continue
		}
		h := keyHolder{
			Address: other.Address, Generation: other.Generation, Leads: other.ID == s.self.ID, Runs: other.Runs || other.ID == s.self.ID,
			Current: other.Generation >= held.Number, Seen: other.Noted, Failure: other.Failure,
		}
		if !h.Current {
			h.since = before.lateSince(h.Address, now)
		}
		is.all = append(is.all, h)
	}
	s.holders.Store(is)
}

// lateSince is since when a server is known not to have the newest keys.
func (h *holders) lateSince(address string, now time.Time) time.Time {
	if h == nil {
		return now
	}
	for i := range h.all {
		if h.all[i].Address == address && !h.all[i].Current {
			return h.all[i].since
		}
	}

	return now
}

// keyHolders returns the generation of the keys, and the servers that share them; none with SQLite.
func (s *server) keyHolders() (int64, []keyHolder) {
	is := s.holders.Load()
	if is == nil {
		return 0, nil
	}

	return is.generation, is.all
}

// describeHolders are the servers for the doctor.
func (s *server) describeHolders() []doctor.Holder {
	generation, all := s.keyHolders()
	found := make([]doctor.Holder, 0, len(all))
	for i := range all {
		h := &all[i]
		found = append(found, doctor.Holder{
			Address: h.Address, Generation: h.Generation, Newest: generation, Runs: h.Runs, Behind: !h.Current, Since: h.since, Seen: h.Seen, Leads: h.Leads, Failure: h.Failure,
		})
	}

	return found
}
