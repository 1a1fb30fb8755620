// SPDX-License-Identifier: Apache-2.0

package world

import (
	"context"

	"github.com/terrarium-garden/terrarium/appliance/admission/outcome"
)

// ClaimSize claims that a thing of a type becomes as large as this, if it fits. fits is told how large each thing becomes that was claimed
// before, which may be the same one, and must not wait for anything. Unlike other claims, one whose request was written is
// valid until its time is over, so that sizes can be read from a cache, which may not have what was written a moment ago.
func (w *World) ClaimSize(ctx context.Context, sort, thing string, size int64, fits func(claimed map[string]int64) bool) {
	from := outcome.From(ctx)
	if w.claims.size(from, sort, thing, size, fits) {
		w.claims.follow(from, sort, thing, thing, outcome.Unknown, outcome.Written)
	}
}

func (c *claims) size(from *outcome.Request, sort, thing string, size int64, fits func(claimed map[string]int64) bool) (first bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	claimed := map[string]int64{}
	for other, of := range c.valid(sort, c.clock.Now()) {
		for _, m := range of.by {
			claimed[other] = max(claimed[other], m.size)
		}
	}

	return fits(claimed) && c.add(from, sort, thing, thing, size)
}
