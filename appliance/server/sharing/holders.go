// SPDX-License-Identifier: Apache-2.0

package sharing

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/terrarium-garden/terrarium/appliance/doctor"
	"github.com/terrarium-garden/terrarium/storage/generations"
)

// Holder is a server of the garden, and which keys it has.
type Holder struct {
	// Address is where other servers reach it.
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

// Holders are the servers that share the keys of the garden, as this one has last seen them; none with SQLite.
type Holders struct{ seen atomic.Pointer[sight] }

// sight is what was seen at a time.
type sight struct {
	generation int64
	all        []Holder
}

// look notes which servers have which keys, and forgets those that have been off for long.
func (m *member) look(ctx context.Context) {
	all, err := m.observer.Servers(ctx)
	if err != nil {
		return // The datastore is away, which others report.
	}
	held, err := m.keys.Sharing.Held()
	if err != nil {
		return
	}
	now, before := m.clock.Now(), m.holders.seen.Load()
	is := &sight{generation: held.Number}
	for _, other := range all {
		if !other.Runs && now.Sub(other.Noted) > generations.Memory {
			m.tell(ctx, m.store.Forget(ctx, other.Address))

			continue
		}
		h := Holder{
			Address: other.Address, Generation: other.Generation, Leads: other.ID == m.self.ID, Runs: other.Runs || other.ID == m.self.ID,
			Current: other.Generation >= held.Number, Seen: other.Noted, Failure: other.Failure,
		}
		if !h.Current {
			h.since = before.lateSince(h.Address, now)
		}
		is.all = append(is.all, h)
	}
	m.holders.seen.Store(is)
}

// lateSince is since when a server is known not to have the newest keys.
func (s *sight) lateSince(address string, now time.Time) time.Time {
	if s == nil {
		return now
	}
	for i := range s.all {
		if s.all[i].Address == address && !s.all[i].Current {
			return s.all[i].since
		}
	}

	return now
}

// All returns the generation of the keys, and the servers.
func (h *Holders) All() (generation int64, all []Holder) {
	is := h.seen.Load()
	if is == nil {
		return 0, nil
	}

	return is.generation, is.all
}

// Describe returns the servers for the doctor.
func (h *Holders) Describe() []doctor.Holder {
	generation, all := h.All()
	found := make([]doctor.Holder, 0, len(all))
	for i := range all {
		is := &all[i]
		found = append(found, doctor.Holder{
			Address: is.Address, Generation: is.Generation, Newest: generation, Runs: is.Runs, Behind: !is.Current,
			Since: is.since, Seen: is.Seen, Leads: is.Leads, Failure: is.Failure,
		})
	}

	return found
}
