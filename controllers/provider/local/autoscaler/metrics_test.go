// SPDX-License-Identifier: Apache-2.0

package autoscaler_test

import (
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/terrarium-garden/terrarium/controllers/provider/local/autoscaler"
)

// measured is a world whose autoscaler counts.
func measured(t *testing.T) (*world, *prometheus.Registry) {
	t.Helper()
	w, registry := two(t), prometheus.NewRegistry()
	metrics, err := autoscaler.RegisterMetrics(registry)
	if err != nil {
		t.Fatal(err)
	}
	w.scaler.Metrics = metrics
	return w, registry
}

func (w *world) shows(t *testing.T, registry *prometheus.Registry, want string, names ...string) {
	t.Helper()
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want), names...); err != nil {
		t.Error(err)
	}
}

// TestMetrics: what is seen and done is counted, and each group only if that is asked for.
func TestMetrics(t *testing.T) {
	t.Parallel()
	w, registry := measured(t)
	w.pass(t)
	w.shows(t, registry, "# HELP cluster_autoscaler_unneeded_nodes_count Nodes that are not needed at the moment.\n"+
		"# TYPE cluster_autoscaler_unneeded_nodes_count gauge\ncluster_autoscaler_unneeded_nodes_count 1\n",
		"cluster_autoscaler_unneeded_nodes_count", "cluster_autoscaler_node_group_min_count")
	w.scaler.Options.GroupMetrics = true
	w.clock.Step(11 * time.Minute)
	w.pass(t)
	w.shows(t, registry, "# HELP cluster_autoscaler_scaled_down_nodes_total Machines that were removed.\n"+
		"# TYPE cluster_autoscaler_scaled_down_nodes_total counter\ncluster_autoscaler_scaled_down_nodes_total 1\n"+
		"# HELP cluster_autoscaler_node_group_max_count Maximum of a machine deployment.\n"+
		"# TYPE cluster_autoscaler_node_group_max_count gauge\ncluster_autoscaler_node_group_max_count{node_group=\"small\"} 3\n"+
		"# HELP cluster_autoscaler_node_group_target_count Machines that a machine deployment wants.\n"+
		"# TYPE cluster_autoscaler_node_group_target_count gauge\ncluster_autoscaler_node_group_target_count{node_group=\"small\"} 1\n",
		"cluster_autoscaler_scaled_down_nodes_total", "cluster_autoscaler_node_group_max_count", "cluster_autoscaler_node_group_target_count")
}

// TestVerbosity: the log says more with each level, and what was scaled always.
func TestVerbosity(t *testing.T) {
	t.Parallel()
	const scaled, news, pass, nodes = "Scaled machine deployment", "Node is not needed", "Pass made", "Node is needed"
	for verbosity, want := range map[int][]string{
		0: {scaled}, 1: {scaled}, 2: {scaled, news}, 3: {scaled, news}, 4: {scaled, news, pass}, 5: {scaled, news, pass, nodes},
	} {
		w := two(t)
		var log strings.Builder
		w.scaler.Log = funcr.New(func(_, args string) { log.WriteString(args + "\n") }, funcr.Options{})
		w.scaler.Options.Verbosity = verbosity
		w.pass(t)
		w.clock.Step(11 * time.Minute)
		w.pass(t)
		var got []string
		for _, line := range []string{scaled, news, pass, nodes} {
			if strings.Contains(log.String(), line) {
				got = append(got, line)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("messages with verbosity %d (-want +got):\n%s\nthe log:\n%s", verbosity, diff, log.String())
		}
	}
}
