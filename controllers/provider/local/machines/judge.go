// SPDX-License-Identifier: Apache-2.0

package machines

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	gardenmachinev1alpha1 "github.com/terrarium-garden/terrarium/apis/machine/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/deploy"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/operation"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/machinepod"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/preservation"
)

// The timeouts of machines whose pool sets none. A machine needs the first to load images and to join, and the second to recover after a
// restart of its seed node.
const (
	defaultCreationTimeout = 20 * time.Minute
	defaultHealthTimeout   = 10 * time.Minute
	defaultDrainTimeout    = 2 * time.Hour

	// recheckBusy and recheckRunning are how often a machine is looked at without an event: no event says that a timeout has ended, and
	// none of the shoot says that a condition of the node has changed.
	recheckBusy    = 15 * time.Second
	recheckRunning = time.Minute
	// recheckApart is for a machine in another cluster, whose pods nobody watches.
	recheckApart = 10 * time.Second
	// recheckJoining is for a machine that is younger than joining: somebody is waiting for it.
	recheckJoining = 2 * time.Second
	joining        = 3 * time.Minute
)

// unhealthyConditions are those conditions of a node that make a machine unhealthy if its pool names none.
const unhealthyConditions = "KernelDeadlock,ReadonlyFilesystem,DiskPressure,NetworkUnavailable"

// unknownTrouble is the reason that package deploy gives for a pod that is not ready yet and reports no problem.
const unknownTrouble = "the pod is not ready"

// Observation is what is known about a machine.
type Observation struct {
	// Machine with its present status.
	Machine *gardenmachinev1alpha1.Machine
	// Pod of the machine; nil if there is none.
	Pod *corev1.Pod
	// Node of the machine; nil if there is none or if it is not known.
	Node *corev1.Node
	// NodeKnown reports whether the shoot answered.
	NodeKnown bool
	// Creation says why the machine could not be created.
	Creation error
}

// Verdict is the phase of a machine and how it got there.
type Verdict struct {
	// Phase of the machine.
	Phase gardenmachinev1alpha1.MachinePhase
	// Operation, State and Description make the last operation.
	Operation   gardenmachinev1alpha1.MachineOperationType
	State       gardenmachinev1alpha1.MachineState
	Description string
	// Recheck is when to look again.
	Recheck time.Duration
}

// Judge returns the phase of a machine that is not being deleted. One that has failed remains so, unless it is kept: then it may run again.
func Judge(o Observation, now time.Time) Verdict {
	status := o.Machine.Status
	joined := slices.Contains([]gardenmachinev1alpha1.MachinePhase{
		gardenmachinev1alpha1.MachineRunning, gardenmachinev1alpha1.MachineUnknown,
		gardenmachinev1alpha1.MachineInPlaceUpdating, gardenmachinev1alpha1.MachineInPlaceUpdateFailed,
	}, status.CurrentStatus.Phase)
	switch {
	case preservation.Failed(o.Machine) && !preservation.Kept(o.Machine, now):
		return still(status, 0)
	case lost(o):
		return failed(gardenmachinev1alpha1.MachineOperationHealthCheck, fmt.Sprintf("The pod of the machine is gone or has ended: %s", o.Machine.Spec.ProviderID))
	}
	trouble, since := unhealthy(o)
	switch {
	case trouble == "":
		return running(status, o.Pod.Name)
	case preservation.Failed(o.Machine):
		return still(status, recheckBusy)
	case joined:
		return judgeUnknown(o, trouble, now.Sub(since))
	default:
		return judgePending(o, trouble, now)
	}
}

// still is the verdict about a machine that has failed before.
func still(status gardenmachinev1alpha1.MachineStatus, recheck time.Duration) Verdict {
	last := status.LastOperation
	return Verdict{Phase: gardenmachinev1alpha1.MachineFailed, Operation: last.Type, State: last.State, Description: last.Description, Recheck: recheck}
}

// lost reports whether a machine that existed does not exist any more, or never will again.
func lost(o Observation) bool {
	if o.Pod == nil {
		return o.Machine.Spec.ProviderID != "" && o.Creation == nil
	}
	return o.Pod.DeletionTimestamp != nil || o.Pod.Status.Phase == corev1.PodFailed || o.Pod.Status.Phase == corev1.PodSucceeded
}

func failed(during gardenmachinev1alpha1.MachineOperationType, description string) Verdict {
	return Verdict{
		Phase: gardenmachinev1alpha1.MachineFailed, Operation: during, State: gardenmachinev1alpha1.MachineStateFailed, Description: description,
	}
}

func running(status gardenmachinev1alpha1.MachineStatus, node string) Verdict {
	v := Verdict{Phase: gardenmachinev1alpha1.MachineRunning, State: gardenmachinev1alpha1.MachineStateSuccessful, Recheck: recheckRunning}
	switch status.CurrentStatus.Phase {
	case gardenmachinev1alpha1.MachineRunning:
		v.Operation, v.Description = status.LastOperation.Type, status.LastOperation.Description
	case gardenmachinev1alpha1.MachineUnknown, gardenmachinev1alpha1.MachineFailed:
		v.Operation, v.Description = gardenmachinev1alpha1.MachineOperationHealthCheck, fmt.Sprintf("Node %q is healthy again", node)
	case gardenmachinev1alpha1.MachineInPlaceUpdating, gardenmachinev1alpha1.MachineInPlaceUpdateFailed:
		v.Operation, v.Description = gardenmachinev1alpha1.MachineOperationInPlaceUpdate, fmt.Sprintf("Node %q has been updated in place", node)
	default:
		v.Operation, v.Description = gardenmachinev1alpha1.MachineOperationCreate, fmt.Sprintf("The machine joined the shoot as node %q", node)
	}
	return v
}

// judgeUnknown is about a machine that was healthy. As long as the shoot does not answer, nobody knows how its node is, and a new machine
// could not join.
func judgeUnknown(o Observation, trouble string, unhealthyFor time.Duration) Verdict {
	timeout := timeoutOf(o.Machine.Spec.HealthTimeout, defaultHealthTimeout)
	if unhealthyFor > timeout && o.NodeKnown && !ptr.Deref(o.Machine.Spec.DisableHealthTimeout, false) {
		return failed(gardenmachinev1alpha1.MachineOperationHealthCheck, fmt.Sprintf("The machine is unhealthy for more than %v: %s", timeout, trouble))
	}
	return Verdict{
		Phase: gardenmachinev1alpha1.MachineUnknown, Operation: gardenmachinev1alpha1.MachineOperationHealthCheck,
		State: gardenmachinev1alpha1.MachineStateProcessing, Description: "The machine is unhealthy: " + trouble, Recheck: recheckBusy,
	}
}

// judgePending is about a machine that has not been healthy yet.
func judgePending(o Observation, trouble string, now time.Time) Verdict {
	timeout := timeoutOf(o.Machine.Spec.CreationTimeout, defaultCreationTimeout)
	if now.Sub(o.Machine.CreationTimestamp.Time) > timeout {
		return failed(gardenmachinev1alpha1.MachineOperationCreate, fmt.Sprintf("The machine did not join within %v: %s", timeout, trouble))
	}
	recheck := recheckBusy
	if now.Sub(o.Machine.CreationTimestamp.Time) < joining {
		recheck = recheckJoining
	}
	v := Verdict{
		Phase: gardenmachinev1alpha1.MachinePending, Operation: gardenmachinev1alpha1.MachineOperationCreate,
		State: gardenmachinev1alpha1.MachineStateProcessing, Description: "Creating the machine: " + trouble, Recheck: recheck,
	}
	if broken(o) {
		v.Phase, v.State = gardenmachinev1alpha1.MachineCrashLoopBackOff, gardenmachinev1alpha1.MachineStateFailed
	}
	return v
}

// broken reports whether something prevents the machine from starting that may not go away by itself.
func broken(o Observation) bool {
	if o.Pod == nil {
		return kit.IsFailure(o.Creation)
	}
	ok, reason := deploy.Ready(o.Pod)
	return !ok && reason != unknownTrouble
}

// unhealthy says what is wrong with a machine, and since when. The text is empty for a healthy machine.
func unhealthy(o Observation) (trouble string, since time.Time) {
	if o.Pod == nil {
		return cmp.Or(errorText(o.Creation), "its pod does not exist yet"), o.Machine.CreationTimestamp.Time
	}
	if ok, reason := deploy.Ready(o.Pod); !ok {
		return cmp.Or(nodeTrouble(o.Pod), reason), unreadySince(o.Pod)
	}
	if o.Node == nil {
		return "", time.Time{}
	}
	bad := strings.Split(ptr.Deref(o.Machine.Spec.NodeConditions, unhealthyConditions), ",")
	for _, c := range o.Node.Status.Conditions {
		if c.Status == corev1.ConditionTrue && slices.Contains(bad, string(c.Type)) {
			return fmt.Sprintf("node %q has the condition %s: %s", o.Node.Name, c.Type, c.Message), c.LastTransitionTime.Time
		}
	}
	return "", time.Time{}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func unreadySince(pod *corev1.Pod) time.Time {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.LastTransitionTime.Time
		}
	}
	return pod.CreationTimestamp.Time
}

// nodeTrouble is what the node of a machine reports as missing.
func nodeTrouble(pod *corev1.Pod) string {
	for _, c := range pod.Status.Conditions {
		if c.Type == machinepod.ConditionNodeReady && c.Status != corev1.ConditionTrue {
			return fmt.Sprintf("node %q: %s", pod.Name, c.Message)
		}
	}
	return ""
}

func timeoutOf(set *metav1.Duration, fallback time.Duration) time.Duration {
	if set == nil {
		return fallback
	}
	return set.Duration
}

// into writes the verdict into a status. Times change with what they belong to.
func (v Verdict) into(status *gardenmachinev1alpha1.MachineStatus, node *corev1.Node, now metav1.Time) {
	active := v.Phase == gardenmachinev1alpha1.MachinePending || v.Phase == gardenmachinev1alpha1.MachineUnknown ||
		v.Phase == gardenmachinev1alpha1.MachineCrashLoopBackOff
	if status.CurrentStatus.Phase != v.Phase || status.CurrentStatus.LastUpdateTime.IsZero() {
		status.CurrentStatus.LastUpdateTime = now
	}
	status.CurrentStatus.Phase, status.CurrentStatus.TimeoutActive = v.Phase, active
	last := gardenmachinev1alpha1.LastOperation{Description: operation.Cut(v.Description), State: v.State, Type: v.Operation, LastUpdateTime: status.LastOperation.LastUpdateTime}
	if last != status.LastOperation || last.LastUpdateTime.IsZero() {
		last.LastUpdateTime = now
	}
	status.LastOperation = last
	if node != nil {
		status.Conditions, status.Addresses = conditions(node), addresses(node)
	}
}

// A node says no more than that into the seed, whatever its owner writes into it.
const maxConditions, maxAddresses = 32, 16

func conditions(node *corev1.Node) []corev1.NodeCondition {
	reported := slices.Clone(node.Status.Conditions[:min(len(node.Status.Conditions), maxConditions)])
	for i := range reported {
		c := &reported[i]
		c.Type, c.Reason, c.Message = corev1.NodeConditionType(operation.Cut(string(c.Type))), operation.Cut(c.Reason), operation.Cut(c.Message)
	}
	return reported
}

func addresses(node *corev1.Node) []corev1.NodeAddress {
	reported := slices.Clone(node.Status.Addresses[:min(len(node.Status.Addresses), maxAddresses)])
	for i := range reported {
		a := &reported[i]
		a.Type, a.Address = corev1.NodeAddressType(operation.Cut(string(a.Type))), operation.Cut(a.Address)
	}
	return reported
}

// sameStatus leaves out the times of heartbeats, which would make every look at a machine a change.
func sameStatus(a, b gardenmachinev1alpha1.MachineStatus) bool {
	a.Conditions, b.Conditions = withoutHeartbeats(a.Conditions), withoutHeartbeats(b.Conditions)
	return equality.Semantic.DeepEqual(a, b)
}

func withoutHeartbeats(conditions []corev1.NodeCondition) []corev1.NodeCondition {
	result := slices.Clone(conditions)
	for i := range result {
		result[i].LastHeartbeatTime = metav1.Time{}
	}
	return result
}
