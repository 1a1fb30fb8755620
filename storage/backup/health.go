// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Health says how well a garden is saved.
type Health struct {
	// Destination is where; empty while it was not reached.
	Destination string
	// Snapshot is the newest snapshot; nil if there is none.
	Snapshot *Entry
	// Protected is the time up to which all writes can be restored; zero while it is not known.
	Protected time.Time
	// Failing says that the last attempt has failed.
	Failing bool
	// LastError is the last error, and LastErrorTime when it was.
	LastError     string
	LastErrorTime time.Time
}

// Health returns how well the garden is saved.
func (k *Keeper) Health() Health {
	k.mu.Lock()
	defer k.mu.Unlock()

	return k.health
}

// What is counted in the process.
//
//nolint:gochecknoglobals // Metrics belong to the process.
var (
	taken = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "terrarium_snapshot_taken_total", Help: "Snapshots that were taken.",
	})
	increased = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "terrarium_snapshot_increments_total", Help: "Increments that were saved.",
	})
	failed = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "terrarium_snapshot_failures_total", Help: "Attempts to save the garden that have failed.",
	})
	took = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "terrarium_snapshot_seconds", Help: "How long snapshots took, reading them again included.",
		Buckets: prometheus.ExponentialBuckets(0.05, 2, 14),
	})
	current atomic.Pointer[Keeper]
)

// register makes a keeper the one of which the metrics tell.
func register(k *Keeper) { current.Store(k) }

// Collectors are the metrics of the snapshots of this process.
func Collectors() []prometheus.Collector {
	gauge := func(name, help string, value func(Health) float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 {
			if k := current.Load(); k != nil {
				return value(k.Health())
			}

			return 0
		})
	}

	return []prometheus.Collector{
		taken, increased, failed, took,
		gauge("terrarium_snapshot_last_timestamp_seconds", "When the newest snapshot was taken; 0 if there is none.", func(h Health) float64 {
			if h.Snapshot == nil {
				return 0
			}

			return float64(h.Snapshot.Time.Unix())
		}),
		gauge("terrarium_snapshot_last_bytes", "The size of the newest snapshot.", func(h Health) float64 {
			if h.Snapshot == nil {
				return 0
			}

			return float64(h.Snapshot.Bytes)
		}),
		gauge("terrarium_snapshot_protected_timestamp_seconds", "The time up to which all writes can be restored; 0 if it is not known.", func(h Health) float64 {
			if h.Protected.IsZero() {
				return 0
			}

			return float64(h.Protected.Unix())
		}),
	}
}
