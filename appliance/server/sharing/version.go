// SPDX-License-Identifier: Apache-2.0

package sharing

import (
	"context"

	"github.com/terrarium-garden/terrarium/storage/generations"
)

// lead lets this server serve the garden, which it must not begin before: its version may follow the one that has last led, and it has
// the newest keys. It writes its own version last, so that a server which cannot serve locks no other one out.
func (m *member) lead(ctx context.Context) error {
	last, err := m.mayLead(ctx)
	if err != nil {
		return err
	}
	if err := m.claim(ctx); err != nil {
		return err
	}
	if err := m.grow(ctx); err != nil {
		return err
	}

	return m.store.ReplaceVersion(ctx, last, m.program.Schema(), m.program.Version)
}

// mayLead returns which version has last led, nil if none has, and an error if this server's must not follow it. What a newer version
// has written could be lost or misunderstood by this one. A server that must not lead still forwards connections to the one that does.
func (m *member) mayLead(ctx context.Context) (*generations.Version, error) {
	last, err := m.store.ReadVersion(ctx)
	if err != nil || last == nil {
		return nil, err
	}

	return last, m.program.CheckShared(last.Schema, last.Version)
}
