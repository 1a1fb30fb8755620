// SPDX-License-Identifier: Apache-2.0

package flow

import (
	"strings"
	"time"

	"k8s.io/utils/clock"
)

// Progress is the state of a run at one moment. The lists are sorted and belong to the receiver.
type Progress struct {
	// Flow is the name of the graph.
	Flow string
	// Total is the number of tasks without the skipped ones.
	Total int
	// Succeeded holds the ids of the tasks that are done.
	Succeeded []ID
	// Doing holds the titles of the running tasks.
	Doing []string
}

// Percent is the share of tasks that succeeded, rounded down. A graph without tasks is done.
func (p Progress) Percent() int32 {
	if p.Total == 0 {
		return 100
	}
	return int32(100 * len(p.Succeeded) / p.Total) //nolint:gosec // between 0 and 100
}

// Description says in words what runs now.
func (p Progress) Description() string {
	switch p.Percent() {
	case 0:
		return "Starting " + p.Flow
	case 100:
		return p.Flow + " finished"
	default:
		return strings.Join(p.Doing, ", ")
	}
}

// reporter passes the latest progress to a callback, one call at a time and not more often than once a period. The first
// and the last progress are never delayed. A run waits for a slow callback only at its end.
type reporter struct {
	clock  clock.Clock
	period time.Duration
	report func(Progress)
	// latest holds at most one progress: the newest one not reported yet.
	latest chan Progress
}

func newReporter(clk clock.Clock, period time.Duration, report func(Progress)) *reporter {
	return &reporter{clock: clk, period: period, report: report, latest: make(chan Progress, 1)}
}

// publish replaces what was not reported yet. Only the run's loop calls it.
func (r *reporter) publish(p Progress) {
	select {
	case <-r.latest:
	default:
	}
	r.latest <- p
}

// loop reports until closed is closed and nothing is left to report.
func (r *reporter) loop(closed <-chan struct{}) {
	for {
		select {
		case p := <-r.latest:
			r.report(p)
		case <-closed:
			r.drain()
			return
		}
		if r.period <= 0 {
			continue
		}
		pause := r.clock.NewTimer(r.period)
		select {
		case <-pause.C():
		case <-closed:
			pause.Stop()
			r.drain()
			return
		}
	}
}

func (r *reporter) drain() {
	select {
	case p := <-r.latest:
		r.report(p)
	default:
	}
}
