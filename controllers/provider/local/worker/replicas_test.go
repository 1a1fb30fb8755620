// SPDX-License-Identifier: Apache-2.0

package worker_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/worker"
)

func TestReplicas_EXT_WLIB_1(t *testing.T) {
	t.Parallel()
	scaled := worker.Mode{Autoscaled: true}
	cases := map[string]struct {
		reason string
		live   *int32
		mode   worker.Mode
		want   int32
	}{
		"Hibernated":   {reason: "a shoot that sleeps has no machines", live: new(int32(3)), mode: worker.Mode{Autoscaled: true, Hibernated: true}, want: 0},
		"NoAutoscaler": {reason: "without an autoscaler the minimum counts", live: new(int32(4)), want: 2},
		"New":          {reason: "a new deployment begins with its minimum", mode: scaled, want: 2},
		"Waking":       {reason: "a shoot that wakes up begins with the minimum", live: new(int32(0)), mode: worker.Mode{Autoscaled: true, Waking: true}, want: 2},
		"Within":       {reason: "what the autoscaler decided stays", live: new(int32(4)), mode: scaled, want: 4},
		"Below":        {reason: "the minimum holds", live: new(int32(1)), mode: scaled, want: 2},
		"Above":        {reason: "the maximum holds", live: new(int32(9)), mode: scaled, want: 5},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := worker.Replicas(tc.live, gardenextensionsv1alpha1.MachineDeployment{Minimum: 2, Maximum: 5}, tc.mode); got != tc.want {
				t.Errorf("%s\nReplicas(...) = %d, want %d", tc.reason, got, tc.want)
			}
		})
	}
}

// TestReconcileKeepsTheNumber: a reconciliation does not undo what the autoscaler did, and a shoot that slept begins with the minimum.
func TestReconcileKeepsTheNumber_EXT_WLIB_1(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pool := newPool()
	object := newWorker(pool)
	run := func(asleep bool) int32 {
		cluster := newCluster("")
		cluster.Shoot.Spec.Hibernation = &gardencorev1beta1.Hibernation{Enabled: &asleep}
		_ = w.actor.Reconcile(t.Context(), object, cluster)
		return w.deployments(t)["small"]
	}
	// step is what has happened, and how many machines the deployment wants then.
	type step struct {
		After    string
		Machines int32
	}
	got := []step{{"it is new", run(false)}}
	d := w.deployment(t, "small")
	d.Spec.Replicas = 3
	if err := w.Update(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	got = append(got, step{"the autoscaler wants 3", run(false)}, step{"it sleeps", run(true)}, step{"it wakes up", run(false)})
	object.Spec.Pools[0].Maximum = 2
	got = append(got, step{"it has no autoscaler", run(false)})
	want := []step{{"it is new", 2}, {"the autoscaler wants 3", 3}, {"it sleeps", 0}, {"it wakes up", 2}, {"it has no autoscaler", 2}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what the deployment wants, of which the minimum is 2 (-want +got):\n%s", diff)
	}
}
