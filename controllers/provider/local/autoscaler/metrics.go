// SPDX-License-Identifier: Apache-2.0

package autoscaler

import (
	"errors"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

const metricsNamespace = "cluster_autoscaler"

// Metrics are what the autoscaler counts, under the names that the upstream one has. A nil Metrics counts nothing.
type Metrics struct {
	pods, unneeded, groups        prometheus.Gauge
	nodes                         *prometheus.GaugeVec
	added, removed                prometheus.Counter
	least, most, target           *prometheus.GaugeVec
	healthy, backoff, groupsNodes *prometheus.GaugeVec
}

// RegisterMetrics returns the metrics of a registry.
func RegisterMetrics(with prometheus.Registerer) (*Metrics, error) {
	m := &Metrics{
		pods:        gauge("unschedulable_pods_count", "Pods that have no place, and will have none on the machines that are on their way."),
		unneeded:    gauge("unneeded_nodes_count", "Nodes that are not needed at the moment."),
		groups:      gauge("node_groups_count", "Machine deployments whose number of machines may change."),
		nodes:       gauges("nodes_count", "Machines of these, by their state: ready, notStarted or unregistered.", "state"),
		added:       counter("scaled_up_nodes_total", "Machines that were added."),
		removed:     counter("scaled_down_nodes_total", "Machines that were removed."),
		least:       gauges("node_group_min_count", "Minimum of a machine deployment.", "node_group"),
		most:        gauges("node_group_max_count", "Maximum of a machine deployment.", "node_group"),
		target:      gauges("node_group_target_count", "Machines that a machine deployment wants.", "node_group"),
		healthy:     gauges("node_group_healthiness", "Whether machines of a machine deployment come when they are wanted: 1 or 0.", "node_group"),
		backoff:     gauges("node_group_backoff_status", "Whether a machine deployment is left alone because its machines did not come: 1 or 0.", "node_group"),
		groupsNodes: gauges("node_group_nodes_count", "Machines of a machine deployment, by their state.", "node_group", "state"),
	}
	var errs []error
	for _, c := range []prometheus.Collector{
		m.pods, m.unneeded, m.groups, m.nodes, m.added, m.removed, m.least, m.most, m.target, m.healthy, m.backoff, m.groupsNodes,
	} {
		errs = append(errs, with.Register(c))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("register metrics of the autoscaler: %w", err)
	}
	return m, nil
}

func gauge(name, help string) prometheus.Gauge {
	return prometheus.NewGauge(prometheus.GaugeOpts{Namespace: metricsNamespace, Name: name, Help: help})
}

func gauges(name, help string, labels ...string) *prometheus.GaugeVec {
	return prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: metricsNamespace, Name: name, Help: help}, labels)
}

func counter(name, help string) prometheus.Counter {
	return prometheus.NewCounter(prometheus.CounterOpts{Namespace: metricsNamespace, Name: name, Help: help})
}

// see takes over what a pass reports. Each says whether there are metrics of each group.
func (m *Metrics) see(r *report, waiting int, each bool) {
	if m == nil {
		return
	}
	m.pods.Set(float64(waiting))
	m.unneeded.Set(float64(r.All.ScaleDown.Candidates))
	m.groups.Set(float64(len(r.Groups)))
	for state, count := range r.All.Health.Counts.states() {
		m.nodes.WithLabelValues(state).Set(float64(count))
	}
	for _, all := range []*prometheus.GaugeVec{m.least, m.most, m.target, m.healthy, m.backoff, m.groupsNodes} {
		// A group that is not there any more has no metrics.
		all.Reset()
	}
	for i := range r.Groups {
		if each {
			m.seeGroup(&r.Groups[i])
		}
	}
}

func (m *Metrics) seeGroup(g *groupReport) {
	failing := 0.0
	if g.ScaleUp.Backoff != "" {
		failing = 1
	}
	m.least.WithLabelValues(g.Name).Set(float64(*g.Health.Minimum))
	m.most.WithLabelValues(g.Name).Set(float64(*g.Health.Maximum))
	m.target.WithLabelValues(g.Name).Set(float64(*g.Health.Target))
	m.backoff.WithLabelValues(g.Name).Set(failing)
	m.healthy.WithLabelValues(g.Name).Set(1 - failing)
	for state, count := range g.Health.Counts.states() {
		m.groupsNodes.WithLabelValues(g.Name, state).Set(float64(count))
	}
}

// states are the counts by the names of the states.
func (c countReport) states() map[string]int {
	return map[string]int{"ready": c.Registered.Ready, "notStarted": c.Registered.NotStarted, "unregistered": c.Unregistered}
}

func (m *Metrics) scaledUp(count int) {
	if m != nil {
		m.added.Add(float64(count))
	}
}

func (m *Metrics) scaledDown(count int) {
	if m != nil {
		m.removed.Add(float64(count))
	}
}
