// SPDX-License-Identifier: Apache-2.0

package flowmetrics_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"

	"github.com/terrarium-garden/terrarium/controllers/flow"
	"github.com/terrarium-garden/terrarium/controllers/flowmetrics"
)

func TestRecorder_GLET_FLOW_8(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		registry := prometheus.NewRegistry()
		for _, err := range []error{nil, errors.New("boom")} {
			// Gardenlets in one process share the metrics.
			recorder, registerErr := flowmetrics.Register(registry)
			if registerErr != nil {
				t.Fatal(registerErr)
			}
			graph, compileErr := flow.Compile("Making tea",
				flow.Task{ID: "boil", Title: "Boiling", Do: takes(2 * time.Second)},
				flow.Task{ID: "pour", Title: "Pouring", After: []flow.ID{"boil"}, Do: func(context.Context) error { return err }},
			)
			if compileErr != nil {
				t.Fatal(compileErr)
			}
			seen := 0
			options := flow.Options{Clock: clock.RealClock{}, Observe: func(flow.Observation) { seen++ }}
			if got := recorder.Run(t.Context(), graph, options); !errors.Is(got, err) || seen != 2 {
				t.Errorf("Run(...) = %v, and %d tasks were observed; want %v and 2", got, seen, err)
			}
			recorder.Operation("Create", 3*time.Second, err)
		}
		want := []string{
			"gardenlet_flow_duration_seconds{flow=Making tea,result=error} 1 in 2s",
			"gardenlet_flow_duration_seconds{flow=Making tea,result=success} 1 in 2s",
			"gardenlet_flow_task_delay_seconds{flow=Making tea,task=boil} 2 in 0s",
			"gardenlet_flow_task_delay_seconds{flow=Making tea,task=pour} 2 in 0s",
			"gardenlet_flow_task_duration_seconds{flow=Making tea,result=error,task=pour} 1 in 0s",
			"gardenlet_flow_task_duration_seconds{flow=Making tea,result=success,task=boil} 2 in 4s",
			"gardenlet_flow_task_duration_seconds{flow=Making tea,result=success,task=pour} 1 in 0s",
			"gardenlet_shoot_operation_duration_seconds{operation=Create,result=error} 1 in 3s",
			"gardenlet_shoot_operation_duration_seconds{operation=Create,result=success} 1 in 3s",
		}
		if diff := cmp.Diff(want, gather(t, registry)); diff != "" {
			t.Errorf("metrics (-want +got):\n%s", diff)
		}
	})
}

func TestWithoutARecorderFlowsRun(t *testing.T) {
	t.Parallel()
	ran := false
	graph, err := flow.Compile("Making tea", flow.Task{ID: "boil", Title: "Boiling", Do: func(context.Context) error {
		ran = true
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	var none *flowmetrics.Recorder
	if err := none.Run(t.Context(), graph, flow.Options{Clock: clock.RealClock{}}); err != nil || !ran {
		t.Errorf("Run(...) = %v, ran: %t", err, ran)
	}
	none.Operation("Create", time.Second, nil)
}

func takes(d time.Duration) func(context.Context) error {
	return func(context.Context) error {
		<-clock.RealClock{}.After(d)
		return nil
	}
}

// gather has a line for each series: its count and its sum.
func gather(t *testing.T, registry *prometheus.Registry) []string {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, family := range families {
		for _, m := range family.GetMetric() {
			labels := ""
			for i, l := range m.GetLabel() {
				if i > 0 {
					labels += ","
				}
				labels += l.GetName() + "=" + l.GetValue()
			}
			count, sum := m.GetHistogram().GetSampleCount(), m.GetHistogram().GetSampleSum()
			if m.GetSummary() != nil {
				count, sum = m.GetSummary().GetSampleCount(), m.GetSummary().GetSampleSum()
			}
			lines = append(lines, fmt.Sprintf("%s{%s} %d in %gs", family.GetName(), labels, count, sum))
		}
	}
	return lines
}
