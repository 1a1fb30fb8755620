// SPDX-License-Identifier: Apache-2.0

package log

import (
	"path/filepath"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// What is counted of all logs of the process, each under the name of its file.
//
//nolint:gochecknoglobals // Metrics belong to the process.
var (
	commitSeconds = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "terrarium_store_commit_seconds",
		Help:    "How long transactions took, the sync of the disk included.",
		Buckets: prometheus.ExponentialBuckets(0.0005, 2, 14),
	}, []string{"store"})
	commitWrites = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "terrarium_store_commit_writes",
		Help:    "How many writes shared a transaction.",
		Buckets: prometheus.ExponentialBuckets(1, 2, 11),
	}, []string{"store"})
	damagedReads = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "terrarium_store_damaged_records_total",
		Help: "Reads of records that are not what was written.",
	})
	failedWrites = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "terrarium_store_failed_writes_total",
		Help: "Writes that were not made because the disk or the database failed.",
	}, []string{"store"})
)

// Collectors are the metrics of all logs of the process.
func Collectors() []prometheus.Collector {
	return []prometheus.Collector{commitSeconds, commitWrites, failedWrites, damagedReads}
}

// store is the name of a log in metrics.
func (l *Log) store() string {
	return strings.TrimSuffix(filepath.Base(l.cfg.File), filepath.Ext(l.cfg.File))
}

// measure counts a transaction.
func (l *Log) measure(began time.Time, writes int) {
	l.full.Store(false)
	commitSeconds.WithLabelValues(l.store()).Observe(l.cfg.Clock.Since(began).Seconds())
	commitWrites.WithLabelValues(l.store()).Observe(float64(writes))
}
