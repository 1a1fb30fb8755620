// SPDX-License-Identifier: Apache-2.0

// Package metrics counts how long it takes to learn what belongs to which seed, and to look it up (GAC-GR-12).
package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/terrarium-garden/terrarium/appliance/authorization/graph"
)

const (
	namespace = "gardener_admission_controller"
	subsystem = "seed_authorizer"
)

// Metrics are those of the graph.
type Metrics struct {
	updates  *prometheus.HistogramVec
	searches *prometheus.HistogramVec
	// bySource are the series of the searches, which are too many to be looked up by labels each time.
	bySource map[graph.Kind]prometheus.Observer
}

// New returns metrics that nobody collects yet.
func New() *Metrics {
	histogram := func(name, help string, labels ...string) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: namespace, Subsystem: subsystem, Name: name, Help: help,
			Buckets: prometheus.ExponentialBuckets(1e-6, 4, 10),
		}, labels)
	}
	m := &Metrics{
		updates: histogram("graph_update_duration_seconds",
			"Time that it took to take over a change of an object into the graph.", "kind", "operation"),
		searches: histogram("graph_path_check_duration_seconds",
			"Time that it took to find out whether an object belongs to a seed.", "fromKind", "toKind"),
		bySource: map[graph.Kind]prometheus.Observer{},
	}
	for _, kind := range graph.Kinds() {
		m.bySource[kind] = m.searches.WithLabelValues(kind.String(), graph.Seed.String())
	}

	return m
}

// Collectors are to be registered by whoever serves metrics.
func (m *Metrics) Collectors() []prometheus.Collector {
	return []prometheus.Collector{m.updates, m.searches}
}

// Updated records a change.
func (m *Metrics) Updated(kind graph.Kind, operation string, took time.Duration) {
	m.updates.WithLabelValues(kind.String(), operation).Observe(took.Seconds())
}

// Searched records a search.
func (m *Metrics) Searched(from graph.Kind, took time.Duration) {
	if observer := m.bySource[from]; observer != nil {
		observer.Observe(took.Seconds())
	}
}
