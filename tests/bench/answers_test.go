// SPDX-License-Identifier: Apache-2.0

package bench_test

import (
	"bytes"
	"fmt"
	"net/http"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// answers says how long the server took for renewals by its own clock: from the moment it has read a request until it has its answer.
// What clients see includes the time that they wait for a processor of the machine, which they share with the server here.
type answers struct {
	all uint64
	// within are those that took no longer than the limits.
	within map[time.Duration]uint64
}

// limits are among the bounds of the library's histogram.
func limits() []time.Duration {
	return []time.Duration{25 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond}
}

// renewals are the renewals that the server has answered so far.
func (g *garden) renewals(t *testing.T) answers {
	t.Helper()
	raw, err := g.send(t.Context(), http.MethodGet, "/metrics", nil)
	if err != nil {
		t.Fatalf("read metrics: %v", err)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(raw))
	if err != nil {
		t.Fatalf("read metrics: %v", err)
	}
	seen := answers{within: map[time.Duration]uint64{}}
	for _, metric := range families["apiserver_request_duration_seconds"].GetMetric() {
		if label(metric, "verb") != http.MethodPatch || label(metric, "resource") != "leases" {
			continue
		}
		seen.all += metric.GetHistogram().GetSampleCount()
		for _, bucket := range metric.GetHistogram().GetBucket() {
			bound := time.Duration(bucket.GetUpperBound() * float64(time.Second))
			seen.within[bound.Round(time.Millisecond)] += bucket.GetCumulativeCount()
		}
	}

	return seen
}

func label(metric *dto.Metric, name string) string {
	for _, pair := range metric.GetLabel() {
		if pair.GetName() == name {
			return pair.GetValue()
		}
	}

	return ""
}

// since says which share of the renewals since an earlier look was answered within each of the limits.
func (a answers) since(before answers) string {
	text := "answered by the clock of the server"
	for _, limit := range limits() {
		share := 100 * float64(a.within[limit]-before.within[limit]) / float64(a.all-before.all)
		text += fmt.Sprintf(", %.2f %% within %s", share, limit)
	}

	return text
}
