// SPDX-License-Identifier: Apache-2.0

package shoot_test

import (
	"slices"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/terrarium-garden/terrarium/controllers/flowmetrics"
)

// TestOperationsAreMeasured_GLET_FLOW_8 creates and deletes a shoot: both operations are recorded, and the flows that they ran.
func TestOperationsAreMeasured_GLET_FLOW_8(t *testing.T) {
	t.Parallel()
	l := newQuiet(t, func(int) error { return nil })
	registry := prometheus.NewRegistry()
	var err error
	if l.Flows, err = flowmetrics.Register(registry); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		if _, err := l.pass(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := l.GardenClient.Delete(t.Context(), l.shoot(t)); err != nil {
			t.Fatal(err)
		}
		if _, err := l.pass(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, family := range families {
		if name := family.GetName(); name != "gardenlet_shoot_operation_duration_seconds" && name != "gardenlet_flow_duration_seconds" {
			continue
		}
		for _, metric := range family.GetMetric() {
			one := ""
			for _, label := range metric.GetLabel() {
				one += label.GetValue() + " "
			}
			for range metric.GetHistogram().GetSampleCount() {
				got = append(got, one)
			}
		}
	}
	slices.Sort(got)
	want := []string{"Create success ", "Delete success ", "Shoot cluster deletion success ", "Shoot cluster reconciliation success "}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what is measured (-want +got):\n%s", diff)
	}
}
