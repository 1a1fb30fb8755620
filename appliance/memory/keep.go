// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"k8s.io/utils/clock"
)

const (
	// interval is how often Keep looks.
	interval = 5 * time.Second
	// spare is how much a process at rest may take again before memory is given back once more.
	spare = 32 << 20
	// quiet is what a process at rest allocates at most in an interval.
	quiet = 48 << 20
	// names of what the runtime counts.
	allocated, total, released = "/gc/heap/allocs:bytes", "/memory/classes/total:bytes", "/memory/classes/heap/released:bytes"
)

// Keep gives back the memory that a busy time has left, once there is little to do: the runtime by itself collects a process
// at rest every two minutes, and keeps much of what is unused. It returns when ctx ends. Call it once the process is ready.
//
// It sets no limit of its own near what lives: the collector would run without a pause as soon as memory that is not of
// the heap makes up the difference.
func Keep(ctx context.Context, c clock.WithTicker) {
	tick := c.NewTicker(interval)
	defer tick.Stop()
	k := keeper{now: count}
	for {
		select {
		case <-tick.C():
			k.look()
		case <-ctx.Done():
			return
		}
	}
}

// counts are what the runtime counts.
type counts struct{ allocated, taken int64 }

func count() counts {
	samples := []metrics.Sample{{Name: allocated}, {Name: total}, {Name: released}}
	metrics.Read(samples)
	number := func(n int) int64 { return int64(samples[n].Value.Uint64()) } //nolint:gosec // No machine has that much.

	return counts{allocated: number(0), taken: number(1) - number(2)}
}

// keeper looks again and again.
type keeper struct {
	now func() counts

	before int64
	// left is what the process took after memory was given back, 0 if it was busy since.
	left int64
}

func (k *keeper) look() {
	c := k.now()
	busy := c.allocated-k.before > quiet
	k.before = c.allocated
	if busy {
		k.left = 0
	} else if k.left == 0 || c.taken > k.left+spare {
		debug.FreeOSMemory()
		k.left = k.now().taken
	}
}
