// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/utils/clock"
)

const (
	// interval is how often Keep looks.
	interval = 5 * time.Second
	// spare is how much a process at rest may take again before memory is given back once more.
	spare = 16 << 20
	// quiet is what a process at rest allocates at most in an interval.
	quiet = 48 << 20
	// glance is after how many intervals a busy process gives back pages of the program: to look for them takes 20 ms with 1.5 GiB.
	glance = 6
	// names of what the runtime counts.
	allocated, total, released = "/gc/heap/allocs:bytes", "/memory/classes/total:bytes", "/memory/classes/heap/released:bytes"
)

// Keep gives back the memory that a busy time has left, once there is little to do: the runtime by itself collects a process
// at rest every two minutes, and keeps much of what is unused. It returns when ctx ends. Call it once the process is ready.
//
// It sets no limit of its own near what lives: the collector would run without a pause as soon as memory that is not of
// the heap makes up the difference.
func Keep(ctx context.Context, c clock.WithTicker, log logr.Logger) {
	tick := c.NewTicker(interval)
	defer tick.Stop()
	k := keeper{now: count, give: debug.FreeOSMemory, unmap: func() {
		if err := returnProgram(); err != nil {
			log.V(1).Info("Pages of the program stay in memory", "reason", err.Error())
		}
	}}
	k.give() // The start leaves the most.
	k.unmap()
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
	// give gives back memory that is unused, unmap the pages of the program.
	give, unmap func()

	before int64
	// left is what the process took after memory was given back.
	left int64
	// rested is how many intervals the process has been at rest, worked how many it has been busy.
	rested, worked int
}

func (k *keeper) look() {
	c := k.now()
	busy := c.allocated-k.before > quiet
	k.before = c.allocated
	if busy {
		k.rested = 0
		if k.worked++; k.worked%glance == 0 {
			k.unmap()
		}

		return
	}
	k.rested++
	k.worked = 0
	// Caches forget with time what was written last, and the collector has no reason to run again soon: so memory is given
	// back after 1, 2, 4, 8 … intervals of rest.
	again := k.rested&(k.rested-1) == 0
	if again || c.taken > k.left+spare {
		k.give()
		k.left = k.now().taken
	}
	k.unmap()
}
