// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"context"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"k8s.io/utils/clock"
)

const (
	// interval is how often Keep looks.
	interval = 5 * time.Second
	// room is what there is at least between what lives and the limit, and spare what of garbage and unused memory a process
	// at rest may have.
	room, spare = 48 << 20, 32 << 20
	// quiet is what a process at rest allocates at most in an interval.
	quiet = 48 << 20
	// names of what the runtime counts.
	live, allocated, total, released = "/gc/heap/live:bytes", "/gc/heap/allocs:bytes", "/memory/classes/total:bytes",
		"/memory/classes/heap/released:bytes"
)

// Keep has the collector keep the process near one and a half times what lives, below a limit, and gives back what is left of a
// busy time once there is little to do: the runtime by itself collects a process at rest every two minutes, and leaves much
// of it unused. It returns when ctx ends. Call it once the process is ready. What the environment says about the collector
// (GOMEMLIMIT, GOGC) wins.
func Keep(ctx context.Context, limit int64, c clock.WithTicker) {
	if os.Getenv("GOMEMLIMIT") != "" || os.Getenv("GOGC") != "" {
		limit = 0
	}
	tick := c.NewTicker(interval)
	defer tick.Stop()
	k := keeper{limit: limit, now: count}
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
type counts struct{ live, allocated, taken int64 }

func count() counts {
	samples := []metrics.Sample{{Name: live}, {Name: allocated}, {Name: total}, {Name: released}}
	metrics.Read(samples)
	number := func(n int) int64 { return int64(samples[n].Value.Uint64()) } //nolint:gosec // No machine has that much.

	return counts{live: number(0), allocated: number(1), taken: number(2) - number(3)}
}

// keeper looks again and again. A limit of 0 leaves the collector as it is.
type keeper struct {
	limit int64
	now   func() counts

	before int64
	// left is what the process took after memory was given back, 0 if it was busy since.
	left int64
}

func (k *keeper) look() {
	c := k.now()
	busy := c.allocated-k.before > quiet
	k.before = c.allocated
	if k.limit > 0 && c.live > 0 {
		debug.SetMemoryLimit(min(k.limit, target(c.live)))
	}
	if busy {
		k.left = 0
	} else if k.left == 0 || c.taken > k.left+spare {
		debug.FreeOSMemory()
		k.left = k.now().taken
	}
}

// target is what a process takes for what lives.
func target(live int64) int64 { return live + live/2 + room }
