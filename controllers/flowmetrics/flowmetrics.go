// SPDX-License-Identifier: Apache-2.0

// Package flowmetrics measures the duration of flows, their tasks, and the operations that they are part of (GLET-FLOW-8).
package flowmetrics

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/terrarium-garden/terrarium/controllers/flow"
)

const namespace = "gardenlet"

// Recorder runs flows and records their durations. A nil Recorder runs them and records nothing.
type Recorder struct {
	tasks, flows, operations *prometheus.HistogramVec
	delays                   *prometheus.SummaryVec
}

// Register returns the recorder of a registry. Several gardenlets that share the registry share one set of metrics.
func Register(with prometheus.Registerer) (*Recorder, error) {
	r := &Recorder{
		tasks: histogram("flow_task_duration_seconds", "Time that a task of a flow took, by its result.",
			[]float64{.1, .5, 2, 10, 60, 300, 900}, "flow", "task", "result"),
		flows: histogram("flow_duration_seconds", "Time that a flow took, by its result.",
			prometheus.ExponentialBuckets(1, 3, 9), "flow", "result"),
		operations: histogram("shoot_operation_duration_seconds", "Time that an operation on a shoot took, by its result.",
			prometheus.ExponentialBuckets(1, 3, 9), "operation", "result"),
		delays: prometheus.NewSummaryVec(prometheus.SummaryOpts{
			Namespace: namespace, Name: "flow_task_delay_seconds",
			Help: "Time between the end of what a task waited for and its start.",
		}, []string{"flow", "task"}),
	}
	return r, errors.Join(register(with, &r.tasks), register(with, &r.flows), register(with, &r.operations), register(with, &r.delays))
}

func histogram(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Namespace: namespace, Name: name, Help: help, Buckets: buckets}, labels)
}

// register registers a collector, or replaces it by the one that is registered already.
func register[C prometheus.Collector](with prometheus.Registerer, collector *C) error {
	err := with.Register(*collector)
	if there, ok := errors.AsType[prometheus.AlreadyRegisteredError](err); ok {
		if existing, ok := there.ExistingCollector.(C); ok {
			*collector = existing
			return nil
		}
	}
	if err != nil {
		return fmt.Errorf("register metrics of flows: %w", err)
	}
	return nil
}

// Run runs a graph.
func (r *Recorder) Run(ctx context.Context, graph *flow.Graph, options flow.Options) error {
	if r == nil {
		return graph.Run(ctx, options)
	}
	observe := options.Observe
	options.Observe = func(o flow.Observation) {
		r.tasks.WithLabelValues(o.Flow, string(o.ID), result(o.Err)).Observe(o.Ended.Sub(o.Started).Seconds())
		r.delays.WithLabelValues(o.Flow, string(o.ID)).Observe(o.Started.Sub(o.Ready).Seconds())
		if observe != nil {
			observe(o)
		}
	}
	began := options.Clock.Now()
	err := graph.Run(ctx, options)
	r.flows.WithLabelValues(graph.Name(), result(err)).Observe(options.Clock.Since(began).Seconds())
	return err
}

// Operation records an operation on a shoot that has ended.
func (r *Recorder) Operation(kind string, took time.Duration, err error) {
	if r != nil {
		r.operations.WithLabelValues(kind, result(err)).Observe(took.Seconds())
	}
}

func result(err error) string {
	if err != nil {
		return "error"
	}
	return "success"
}
