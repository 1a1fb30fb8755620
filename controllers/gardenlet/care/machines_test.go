// SPDX-License-Identifier: Apache-2.0

package care_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenmachinev1alpha1 "github.com/terrarium-garden/terrarium/apis/machine/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/care"
)

// machine is that of node m-<number>.
func machine(number int, phase gardenmachinev1alpha1.MachinePhase) gardenmachinev1alpha1.Machine {
	m := gardenmachinev1alpha1.Machine{ObjectMeta: metav1.ObjectMeta{
		Name: fmt.Sprintf("x-%d", number), Labels: map[string]string{"node": fmt.Sprintf("m-%d", number)},
	}}
	m.Status.CurrentStatus.Phase, m.Status.LastOperation.Description = phase, "no image"
	return m
}

func leaving(m gardenmachinev1alpha1.Machine) gardenmachinev1alpha1.Machine {
	m.DeletionTimestamp = new(metav1.NewTime(time.Unix(1, 0)))
	return m
}

func TestJudgeMachines_GLET_CARE_14_EXT_WLIB_7(t *testing.T) {
	t.Parallel()
	const (
		running = gardenmachinev1alpha1.MachineRunning
		pending = gardenmachinev1alpha1.MachinePending
		failed  = gardenmachinev1alpha1.MachineFailed
	)
	machines := func(replicas int32, objects ...gardenmachinev1alpha1.Machine) care.Machines {
		return care.Machines{
			Deployments: []gardenmachinev1alpha1.MachineDeployment{{Spec: gardenmachinev1alpha1.MachineDeploymentSpec{Replicas: replicas}}}, Objects: objects,
		}
	}
	cordoned := node("True", func(n *corev1.Node) { n.Name, n.Spec.Unschedulable = "m-2", true })
	second := node("True", func(n *corev1.Node) { n.Name = "m-2" })
	old := node("True", func(n *corev1.Node) {
		n.Name, n.Spec.Unschedulable, n.Status.NodeInfo.KubeletVersion = "m-2", true, "v1.36.2"
	})
	good := verdict{Status: "True", Reason: "EveryNodeReady", Message: "Every node is ready"}
	one, two := []corev1.Node{node("True")}, []corev1.Node{node("True"), second}
	cases := map[string]struct {
		why      string
		nodes    []corev1.Node
		machines care.Machines
		want     verdict
	}{
		"NoObjects": {"a provider without machine objects is judged by its nodes", one, care.Machines{}, good},
		"Complete":  {"as many nodes as machines", one, machines(1, machine(1, running)), good},
		"OtherPatch": {"a drained machine of the former patch version is one that goes", []corev1.Node{node("True"), old}, machines(1, machine(1, running), leaving(machine(2, running))), verdict{
			Status: "False", Reason: "NodesScalingDown", Message: "1 machine is waiting to be drained: see the PodDisruptionBudgets and the finalizers of the pods that are left on the cordoned nodes. Machines that cannot be drained are deleted after their drain timeout",
		}},
		"PatchStays":   {"one that stays should have the version", []corev1.Node{node("True"), old}, machines(2, machine(1, running), machine(2, running)), verdict{Status: "False", Reason: "KubeletVersionMismatch", Message: `Node "m-2" of pool "small": its kubelet has version 1.36.2 and not 1.36.3`}},
		"NotListed":    {"the check itself failed", one, care.Machines{Err: errors.New("list machines: refused")}, verdict{Status: "Unknown", Reason: "ConditionCheckError", Message: "The machines could not be checked: list machines: refused"}},
		"NotCreated":   {"a machine is not even an object", one, machines(2, machine(1, running)), verdict{Status: "False", Reason: "NodesScalingUp", Message: "Not enough machine objects are created yet (1 of 2)"}},
		"Provisioning": {"a machine is on its way", one, machines(2, machine(1, running), machine(2, pending)), verdict{Status: "False", Reason: "NodesScalingUp", Message: "1 machine is provisioning and should join the cluster soon"}},
		"Erroneous":    {"a machine does not start", one, machines(3, machine(1, running), machine(2, failed), machine(3, failed)), verdict{Status: "False", Reason: "NodesScalingUp", Message: `2 machines are erroneous: machine "x-2": no image`}},
		"NoNode":       {"a machine runs without a node", one, machines(2, machine(1, running), machine(2, running)), verdict{Status: "False", Reason: "NodesScalingUp", Message: "Not enough nodes are ready (1 of 2)"}},
		"RollOut":      {"there are enough nodes, but a new machine does not start", one, machines(1, machine(1, running), machine(2, failed)), verdict{Status: "False", Reason: "NodesRollOutScalingUp", Message: `1 machine is erroneous: machine "x-2": no image`}},
		"RollingOut":   {"one that is on its way is no trouble", one, machines(1, machine(1, running), machine(2, pending)), good},
		"TooMany":      {"a node that nobody ordered", two, machines(1, machine(1, running)), verdict{Status: "False", Reason: "NodesScalingDown", Message: "There are too many nodes (2 instead of 1)"}},
		"Draining": {
			"a machine that waits for its pods",
			[]corev1.Node{node("True"), cordoned},
			machines(1, machine(1, running), leaving(machine(2, running))),
			verdict{Status: "False", Reason: "NodesScalingDown", Message: "1 machine is waiting to be drained: see the PodDisruptionBudgets and the finalizers of the pods that are left on the cordoned nodes. Machines that cannot be drained are deleted after their drain timeout"},
		},
		"Cordoned": {
			"somebody keeps pods from a node that stays",
			[]corev1.Node{node("True"), cordoned},
			machines(1, machine(1, running), machine(2, running)),
			verdict{Status: "False", Reason: "NodesScalingDown", Message: `Node "m-2" is cordoned, but its machine is not being deleted`},
		},
		"Stray": {
			"a cordoned node that nobody ordered",
			[]corev1.Node{node("True"), cordoned},
			machines(1, machine(1, running)),
			verdict{Status: "False", Reason: "NodesScalingDown", Message: `There is no machine for the cordoned node "m-2"`},
		},
		"CordonedEnough": {"as many nodes as wanted may be cordoned", []corev1.Node{node("True"), cordoned}, machines(2, machine(1, running), machine(2, running)), good},
		"Missing": {
			"a pool below its minimum says why", nil, machines(1, machine(1, failed)),
			verdict{Status: "False", Reason: "MissingNodes", Message: `Pool "small" has 0 nodes and needs at least 1. 1 machine is erroneous: machine "x-1": no image`},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world := healthy(func(w *care.World) { w.Nodes, w.Machines = tc.nodes, tc.machines })
			if diff := cmp.Diff(tc.want, of(care.JudgeNodes(shoot(func(*gardencorev1beta1.Shoot) {}), world))); diff != "" {
				t.Errorf("%s\nJudgeNodes(...) (-want +got):\n%s", tc.why, diff)
			}
		})
	}
}
