// SPDX-License-Identifier: Apache-2.0

package care

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenmachinev1alpha1 "github.com/terrarium-garden/terrarium/apis/machine/v1alpha1"
)

// Machines are the machines of a shoot, as its provider keeps them in the seed.
type Machines struct {
	// Deployments say how many machines are wanted. Without any, the provider has no machine objects.
	Deployments []gardenmachinev1alpha1.MachineDeployment
	// Objects are the machines.
	Objects []gardenmachinev1alpha1.Machine
	// Err is set if they could not be listed.
	Err error
}

// machinesOf lists the machines in the control plane of a shoot. A seed without the kinds has none.
func machinesOf(ctx context.Context, seed client.Reader, namespace string) Machines {
	deployments, machines := &gardenmachinev1alpha1.MachineDeploymentList{}, &gardenmachinev1alpha1.MachineList{}
	for _, list := range []client.ObjectList{deployments, machines} {
		err := seed.List(ctx, list, client.InNamespace(namespace))
		if meta.IsNoMatchError(err) {
			return Machines{}
		}
		if err != nil {
			return Machines{Err: fmt.Errorf("list machines: %w", err)}
		}
	}
	return Machines{Deployments: deployments.Items, Objects: machines.Items}
}

// judgePreserved finds failed machines that are kept for analysis (GLET-CONSTR-6).
func judgePreserved(m Machines) gardencorev1beta1.Condition {
	c := gardencorev1beta1.Condition{Type: gardencorev1beta1.ConditionTypePreservedFailedMachinesAbsent}
	kept := 0
	for i := range m.Deployments {
		kept += int(m.Deployments[i].Status.PreservedFailedReplicas)
	}
	if kept == 0 {
		return c
	}
	return bad(c, reasonPreservedMachines, count(kept)+" kept for analysis after a failure. The annotation "+
		gardenmachinev1alpha1.AnnotationPreserve+"="+gardenmachinev1alpha1.PreserveFalse+" of a node has its machine replaced")
}

// isKept reports whether the machine of a node is kept for analysis.
func isKept(node *corev1.Node) bool {
	return slices.ContainsFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == gardenmachinev1alpha1.NodePreserved && c.Status == corev1.ConditionTrue
	})
}

// desired is the number of machines that are wanted.
func (m Machines) desired() int {
	desired := 0
	for i := range m.Deployments {
		if m.Deployments[i].DeletionTimestamp == nil {
			desired += int(m.Deployments[i].Spec.Replicas)
		}
	}
	return desired
}

// judgeMachines compares the nodes of a shoot with its machines, and says why there are too few or too many (GLET-CARE-14, EXT-WLIB-7).
func judgeMachines(c gardencorev1beta1.Condition, m Machines, nodes []corev1.Node) (gardencorev1beta1.Condition, bool) {
	if m.Err != nil {
		c.Status, c.Reason, c.Message = gardencorev1beta1.ConditionUnknown, gardencorev1beta1.ReasonConditionCheckError, "The machines could not be checked: "+m.Err.Error()
		return c, true
	}
	if len(m.Deployments) == 0 {
		return c, false
	}
	if why := m.tooFew(readyOf(nodes)); why != "" {
		return bad(c, gardencorev1beta1.ReasonNodesScalingUp, why), true
	}
	if why := m.tooMany(nodes); why != "" {
		return bad(c, gardencorev1beta1.ReasonNodesScalingDown, why), true
	}
	if erroneous, first, _ := m.starting(); erroneous > 0 {
		return bad(c, gardencorev1beta1.ReasonNodesRollOutScalingUp, count(erroneous)+" erroneous: "+first), true
	}
	return c, false
}

func readyOf(nodes []corev1.Node) int {
	ready := 0
	for i := range nodes {
		for _, condition := range nodes[i].Status.Conditions {
			if condition.Type == corev1.NodeReady && condition.Status == corev1.ConditionTrue {
				ready++
			}
		}
	}
	return ready
}

// tooFew says why there are fewer ready nodes than machines are wanted, or nothing if there are enough.
func (m Machines) tooFew(ready int) string {
	desired := m.desired()
	if ready >= desired {
		return ""
	}
	if objects := len(m.Objects); objects < desired {
		return fmt.Sprintf("Not enough machine objects are created yet (%d of %d)", objects, desired)
	}
	erroneous, first, provisioning := m.starting()
	switch {
	case erroneous > 0:
		return count(erroneous) + " erroneous: " + first
	case provisioning > 0:
		return count(provisioning) + " provisioning and should join the cluster soon"
	default:
		return fmt.Sprintf("Not enough nodes are ready (%d of %d)", ready, desired)
	}
}

// starting counts the machines that are not running, apart from those that are being deleted, and describes the first erroneous one.
func (m Machines) starting() (erroneous int, first string, provisioning int) {
	for i := range m.Objects {
		machine := &m.Objects[i]
		if machine.DeletionTimestamp != nil {
			continue
		}
		switch machine.Status.CurrentStatus.Phase {
		case gardenmachinev1alpha1.MachineRunning, gardenmachinev1alpha1.MachineAvailable:
		case gardenmachinev1alpha1.MachinePending, "":
			provisioning++
		default:
			if erroneous++; first == "" {
				first = fmt.Sprintf("machine %q: %s", machine.Name, machine.Status.LastOperation.Description)
			}
		}
	}
	return erroneous, first, provisioning
}

// leaving are the names of the nodes whose machines are being deleted.
func (m Machines) leaving() map[string]bool {
	leaving := map[string]bool{}
	for i := range m.Objects {
		if m.Objects[i].DeletionTimestamp != nil {
			leaving[m.Objects[i].Labels[gardenmachinev1alpha1.LabelNode]] = true
		}
	}
	return leaving
}

// tooMany says why there are more nodes than machines are wanted, or nothing if there are not.
func (m Machines) tooMany(nodes []corev1.Node) string {
	desired := m.desired()
	if len(nodes) <= desired {
		return ""
	}
	leaving, known := m.leaving(), map[string]bool{}
	for i := range m.Objects {
		known[m.Objects[i].Labels[gardenmachinev1alpha1.LabelNode]] = true
	}
	cordoned := 0
	for i := range nodes {
		name := nodes[i].Name
		switch {
		case !nodes[i].Spec.Unschedulable:
			continue
		case !known[name]:
			return fmt.Sprintf("There is no machine for the cordoned node %q", name)
		case !leaving[name]:
			return fmt.Sprintf("Node %q is cordoned, but its machine is not being deleted", name)
		}
		cordoned++
	}
	if rest := len(nodes) - cordoned; rest > desired {
		return fmt.Sprintf("There are too many nodes (%d instead of %d)", rest, desired)
	}
	return count(cordoned) + " waiting to be drained: see the PodDisruptionBudgets and the finalizers of the pods that are left on the cordoned nodes. " +
		"Machines that cannot be drained are deleted after their drain timeout"
}

func count(machines int) string {
	if machines == 1 {
		return "1 machine is"
	}
	return fmt.Sprintf("%d machines are", machines)
}
