// SPDX-License-Identifier: Apache-2.0

// Package metrics records the durations of updates of the graph and of searches in it (GAC-GR-12).
package metrics

import (
	"errors"
	"fmt"
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
	updates *prometheus.HistogramVec
	// searches are the series by kind, so that a search does not have to look up a series by its labels.
	searches map[graph.Kind]prometheus.Observer
}

// Register registers the metrics and returns them. Several servers that share the registry share the metrics.
func Register(with prometheus.Registerer) (*Metrics, error) {
	updates, err := histogram(with, "graph_update_duration_seconds",
		"Time that it took to take over a change of an object into the graph.", "kind", "operation")
	if err != nil {
		return nil, err
	}
	searches, err := histogram(with, "graph_path_check_duration_seconds",
		"Time that it took to find out whether an object belongs to a seed.", "fromKind", "toKind")
	if err != nil {
		return nil, err
	}
	m := &Metrics{updates: updates, searches: map[graph.Kind]prometheus.Observer{}}
	for _, kind := range graph.Kinds() {
		m.searches[kind] = searches.WithLabelValues(kind.String(), graph.Seed.String())
	}

	return m, nil
}

func histogram(with prometheus.Registerer, name, help string, labels ...string) (*prometheus.HistogramVec, error) {
	made := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Namespace: namespace, Subsystem: subsystem, Name: name, Help: help,
		Buckets: prometheus.ExponentialBuckets(1e-6, 4, 10),
	}, labels)
	err := with.Register(made)
	if there, ok := errors.AsType[prometheus.AlreadyRegisteredError](err); ok {
		if found, ok := there.ExistingCollector.(*prometheus.HistogramVec); ok {
			return found, nil
		}
	}
	if err != nil {
		return nil, fmt.Errorf("register metric %q: %w", name, err)
	}

	return made, nil
}

// Updated records the duration of an update.
func (m *Metrics) Updated(kind graph.Kind, operation string, took time.Duration) {
	m.updates.WithLabelValues(kind.String(), operation).Observe(took.Seconds())
}

// Searched records the duration of a search.
func (m *Metrics) Searched(from graph.Kind, took time.Duration) {
	if observer := m.searches[from]; observer != nil {
		observer.Observe(took.Seconds())
	}
}
