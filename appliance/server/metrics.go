// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"google.golang.org/protobuf/proto"
	"k8s.io/component-base/metrics/legacyregistry"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/terrarium-garden/terrarium/appliance/doctor/machine"
)

// gauges are the metrics of the server of this process.
type gauges struct {
	info, size, wal, unused, revision, compacted, problems, checked, expiry *prometheus.GaugeVec
	seeds, shoots, findings                                                 *prometheus.GaugeVec
	free, total, readOnly                                                   prometheus.Gauge
}

// processGauges registers the metrics once. Several servers in one process, as in tests, share them.
//
//nolint:gochecknoglobals // Metrics belong to the process.
var processGauges = sync.OnceValue(func() *gauges {
	var all []prometheus.Collector
	vec := func(name, help string, labels ...string) *prometheus.GaugeVec {
		g := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
		all = append(all, g)

		return g
	}
	one := func(name, help string) prometheus.Gauge {
		g := prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
		all = append(all, g)

		return g
	}
	g := &gauges{
		info:      vec("terrarium_info", "The version of the server; the value is 1.", "version"),
		size:      vec("terrarium_store_size_bytes", "Size of a database.", "store"),
		wal:       vec("terrarium_store_wal_bytes", "Size of the write-ahead log of a database.", "store"),
		unused:    vec("terrarium_store_unused_bytes", "Bytes of a database that no record uses.", "store"),
		revision:  vec("terrarium_store_revision", "The newest revision.", "store"),
		compacted: vec("terrarium_store_compacted_revision", "The revision up to which past states are no longer kept.", "store"),
		problems:  vec("terrarium_store_integrity_problems", "Problems that the last check of a database has found.", "store"),
		checked:   vec("terrarium_store_checked_timestamp_seconds", "When the integrity of a database was last checked.", "store"),
		expiry:    vec("terrarium_certificate_expiry_timestamp_seconds", "When a certificate of the garden expires.", "certificate"),
		seeds:     vec("terrarium_seeds", "Seeds: all, those that are ready, and those that are shut out.", "state"),
		shoots:    vec("terrarium_shoots", "Shoots by the state of their last operation.", "state"),
		findings:  vec("terrarium_findings", "Findings of the doctor.", "severity"),
		free:      one("terrarium_disk_free_bytes", "Free bytes on the disk of the data directory."),
		total:     one("terrarium_disk_size_bytes", "Size of the disk of the data directory."),
		readOnly:  one("terrarium_store_read_only", "1 while changes are refused because the disk is full."),
	}
	legacyregistry.RawMustRegister(append(all, controllerMetrics{})...)

	return g
})

// measure brings the metrics up to date.
func (e *examiner) measure(ctx context.Context) {
	g := processGauges()
	g.info.WithLabelValues(e.version).Set(1)
	full := 0.0
	for _, db := range e.stores.Files() {
		g.size.WithLabelValues(db.Name).Set(float64(db.SizeBytes))
		g.wal.WithLabelValues(db.Name).Set(float64(db.WALBytes))
		g.revision.WithLabelValues(db.Name).Set(float64(db.Revision))
		g.compacted.WithLabelValues(db.Name).Set(float64(db.Compacted))
		if db.Full {
			full = 1
		}
	}
	for _, i := range e.health.items() {
		g.unused.WithLabelValues(i.Name).Set(float64(i.UnusedBytes))
		g.problems.WithLabelValues(i.Name).Set(float64(len(i.Problems)))
		if i.Checked != nil {
			g.checked.WithLabelValues(i.Name).Set(float64(i.Checked.Unix()))
		}
	}
	g.readOnly.Set(full)
	if disk := machine.Disk(e.keys.Dir); disk != nil {
		g.free.Set(float64(disk.FreeBytes))
		g.total.Set(float64(disk.TotalBytes))
	}
	for _, c := range e.keys.Certificates.List() {
		g.expiry.WithLabelValues(c.Name).Set(float64(c.NotAfter.Unix()))
	}
	g.count(e.digest(ctx))
}

func (g *gauges) count(d digest) {
	if d.seeds == nil || d.shoots == nil || d.findings == nil {
		return
	}
	g.seeds.WithLabelValues("all").Set(float64(d.seeds.Total))
	g.seeds.WithLabelValues("ready").Set(float64(d.seeds.Ready))
	g.seeds.WithLabelValues("revoked").Set(float64(d.seeds.Revoked))
	g.shoots.Reset()
	for state, n := range d.shoots.ByState {
		g.shoots.WithLabelValues(state).Set(float64(n))
	}
	g.findings.WithLabelValues("critical").Set(float64(d.findings.Critical))
	g.findings.WithLabelValues("warning").Set(float64(d.findings.Warning))
	g.findings.WithLabelValues("info").Set(float64(d.findings.Info))
}

// controllerMetrics serves the metrics of controllers, which controller-runtime keeps in a registry of its own. Others in it are
// served already.
type controllerMetrics struct{}

// Describe implements prometheus.Collector. It describes nothing, because what there is depends on the controllers.
func (controllerMetrics) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (controllerMetrics) Collect(into chan<- prometheus.Metric) {
	families, err := ctrlmetrics.Registry.Gather()
	if err != nil {
		return
	}
	for _, family := range families {
		if !strings.HasPrefix(family.GetName(), "controller_runtime_") {
			continue
		}
		desc := prometheus.NewDesc(family.GetName(), family.GetHelp(), nil, nil)
		for _, m := range family.GetMetric() {
			into <- gathered{desc: desc, metric: m}
		}
	}
}

// gathered is a metric of another registry.
type gathered struct {
	desc   *prometheus.Desc
	metric *dto.Metric
}

// Desc implements prometheus.Metric.
func (g gathered) Desc() *prometheus.Desc { return g.desc }

// Write implements prometheus.Metric.
func (g gathered) Write(into *dto.Metric) error {
	proto.Merge(into, g.metric)

	return nil
}
