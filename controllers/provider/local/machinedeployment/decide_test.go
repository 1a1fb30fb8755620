// SPDX-License-Identifier: Apache-2.0

package machinedeployment_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/intstr"

	gardenmachinev1alpha1 "github.com/terrarium-garden/terrarium/apis/machine/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/machinedeployment"
)

// set has as many machines as it wants.
func set(name string, replicas, ready int) machinedeployment.Set {
	return machinedeployment.Set{Name: name, Replicas: replicas, Machines: replicas, Ready: ready}
}

func TestDecide(t *testing.T) {
	t.Parallel()
	type sets = []machinedeployment.Set
	type plan = map[string]int
	limits := func(surge, unavailable int) machinedeployment.Limits {
		return machinedeployment.Limits{Surge: surge, Unavailable: unavailable}
	}
	recreate := machinedeployment.Limits{Unavailable: 2, Recreate: true}
	cases := map[string]struct {
		reason   string
		replicas int
		limits   machinedeployment.Limits
		current  machinedeployment.Set
		old      sets
		want     plan
	}{
		"Empty":       {"all machines are made at once", 3, limits(1, 0), set("new", 0, 0), nil, plan{"new": 3}},
		"Complete":    {"nothing is done to what is as wanted", 2, limits(1, 0), set("new", 2, 1), nil, plan{"new": 2}},
		"ScaleDown":   {"too many machines go at once", 1, limits(1, 0), set("new", 3, 3), nil, plan{"new": 1}},
		"ToNothing":   {"all machines go, old ones as well", 0, limits(1, 0), set("new", 1, 1), sets{set("old", 2, 1)}, plan{"new": 0, "old": 0}},
		"Surge":       {"a replacement is made before an old machine goes", 2, limits(1, 0), set("new", 0, 0), sets{set("old", 2, 2)}, plan{"new": 1, "old": 2}},
		"SurgeReady":  {"an old machine goes when its replacement is ready", 2, limits(1, 0), set("new", 1, 1), sets{set("old", 2, 2)}, plan{"new": 1, "old": 1}},
		"Unavailable": {"without surge an old machine goes first", 2, limits(0, 1), set("new", 0, 0), sets{set("old", 2, 2)}, plan{"new": 0, "old": 1}},
		"BothLimits":  {"both limits are used", 4, limits(1, 1), set("new", 0, 0), sets{set("old", 4, 4)}, plan{"new": 1, "old": 3}},
		"UnreadyOld": {
			"an old machine that is not ready may recover: it is not given up before there is a new one",
			1, limits(1, 0), set("new", 1, 0),
			sets{set("old", 1, 0)},
			plan{"new": 1, "old": 1},
		},
		"UnreadyFirst": {"old machines that are not ready go first", 2, limits(1, 0), set("new", 1, 1), sets{set("older", 1, 1), set("old", 1, 0)}, plan{"new": 1, "older": 1, "old": 0}},
		"BrokenNew":    {"as long as new machines do not start, the old ones stay", 2, limits(1, 0), set("new", 1, 0), sets{set("old", 2, 2)}, plan{"new": 1, "old": 2}},
		"Last":         {"the last old machine goes", 2, limits(1, 0), set("new", 2, 2), sets{set("old", 1, 1)}, plan{"new": 2, "old": 0}},
		"Recreate":     {"no new machine is made as long as there is an old one", 2, recreate, set("new", 0, 0), sets{set("old", 2, 2)}, plan{"new": 0, "old": 0}},
		"Recreated":    {"then all are", 2, recreate, set("new", 0, 0), sets{set("old", 0, 0)}, plan{"new": 2, "old": 0}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, machinedeployment.Decide(tc.replicas, tc.limits, tc.current, tc.old)); diff != "" {
				t.Errorf("%s\nDecide(...) (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestDecideConverges replaces machines step by step, with those that become ready in each step, and checks the limits in each of them.
func TestDecideConverges(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ replicas, surge, unavailable int }{{1, 1, 0}, {1, 0, 1}, {3, 1, 0}, {3, 0, 1}, {5, 2, 2}, {4, 4, 0}, {3, 0, 3}} {
		current, old := set("new", 0, 0), set("old", tc.replicas, tc.replicas)
		limits := machinedeployment.Limits{Surge: tc.surge, Unavailable: tc.unavailable}
		steps := 0
		for ; current.Ready < tc.replicas || old.Replicas > 0; steps++ {
			if steps > 3*tc.replicas {
				t.Fatalf("%+v: after %d steps there are %+v and %+v", tc, steps, current, old)
			}
			plan := machinedeployment.Decide(tc.replicas, limits, current, []machinedeployment.Set{old})
			if total := plan["new"] + plan["old"]; total > tc.replicas+tc.surge {
				t.Errorf("%+v: %d machines in step %d", tc, total, steps)
			}
			if ready := min(current.Ready, plan["new"]) + min(old.Ready, plan["old"]); ready < tc.replicas-tc.unavailable {
				t.Errorf("%+v: %d machines are ready in step %d", tc, ready, steps)
			}
			current, old = set("new", plan["new"], plan["new"]), set("old", plan["old"], plan["old"])
		}
	}
}

func TestLimitsOf(t *testing.T) {
	t.Parallel()
	rolling := func(surge, unavailable intstr.IntOrString) gardenmachinev1alpha1.MachineDeploymentStrategy {
		return gardenmachinev1alpha1.MachineDeploymentStrategy{RollingUpdate: &gardenmachinev1alpha1.RollingUpdateMachineDeployment{
			UpdateConfiguration: gardenmachinev1alpha1.UpdateConfiguration{MaxSurge: &surge, MaxUnavailable: &unavailable},
		}}
	}
	cases := map[string]struct {
		reason   string
		strategy gardenmachinev1alpha1.MachineDeploymentStrategy
		replicas int
		want     machinedeployment.Limits
		wantErr  bool
	}{
		"Numbers":  {reason: "numbers are taken as they are", strategy: rolling(intstr.FromInt32(2), intstr.FromInt32(3)), replicas: 5, want: machinedeployment.Limits{Surge: 2, Unavailable: 3}},
		"Percent":  {reason: "surge is rounded up, unavailability down", strategy: rolling(intstr.FromString("30%"), intstr.FromString("30%")), replicas: 5, want: machinedeployment.Limits{Surge: 2, Unavailable: 1}},
		"NoRoom":   {reason: "without room nothing could be replaced", strategy: rolling(intstr.FromInt32(0), intstr.FromInt32(0)), replicas: 5, want: machinedeployment.Limits{Surge: 1}},
		"Default":  {reason: "a strategy that is left out replaces one at a time", replicas: 5, want: machinedeployment.Limits{Surge: 1, Unavailable: 1}},
		"Recreate": {reason: "all may be missing", strategy: gardenmachinev1alpha1.MachineDeploymentStrategy{Type: gardenmachinev1alpha1.RecreateStrategy}, replicas: 5, want: machinedeployment.Limits{Unavailable: 5, Recreate: true}},
		"Words":    {reason: "what is not a percentage is an error", strategy: rolling(intstr.FromString("some"), intstr.FromInt32(0)), replicas: 5, wantErr: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := machinedeployment.LimitsOf(tc.strategy, tc.replicas)
			if diff := cmp.Diff(tc.want, got); diff != "" || (err != nil) != tc.wantErr {
				t.Errorf("%s\nLimitsOf(...) error %v (-want +got):\n%s", tc.reason, err, diff)
			}
		})
	}
}
