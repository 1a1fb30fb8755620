// SPDX-License-Identifier: Apache-2.0

package machines

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardenmachinev1alpha1 "github.com/terrarium-garden/terrarium/apis/machine/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/deploy"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/operation"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/machinepod"
)

const (
	// defaultUpdateTimeout is how long an update in place may take, beside its drain, if the pool does not say it.
	defaultUpdateTimeout = 30 * time.Minute
	// updatePeriod is the time between two looks at a machine that is being updated, selectPeriod that between two looks whether its owner
	// has selected one.
	updatePeriod = 2 * time.Second
	selectPeriod = 10 * time.Second
)

// update updates a machine in place that was selected: it drains the node, lets the machine restart with another image if it is to have one, and
// tells the agent of the node to go on. The machine and its node stay the same objects.
func (r *Reconciler) update(ctx context.Context, s *scope) (kit.Outcome, error) {
	gone := lost(Observation{Machine: s.machine, Pod: s.pod, Creation: s.creation})
	if Wanted(s.machine) == "" || s.node == nil || gone || s.machine.Status.CurrentStatus.Phase == gardenmachinev1alpha1.MachineFailed {
		return kit.Continue(), nil
	}
	if err := r.note(ctx, s); err != nil {
		return kit.Stop(), err
	}
	if s.machine.Labels[gardenmachinev1alpha1.LabelNodeSelectedForUpdate] == "" {
		return kit.Continue(), r.propose(ctx, s)
	}
	shoot, err := r.Shoot(ctx, s.machine.Namespace)
	if err != nil {
		return kit.Stop(), err
	}
	u := &updating{r: r, s: s, shoot: shoot.Client}
	if reason, _ := u.at(); reason == gardenmachinev1alpha1.ReasonUpdateSuccessful && !Outdated(s.machine) {
		// The last write of finish is missing. To begin again would drain a node that is up to date.
		return kit.Continue(), u.deselect(ctx)
	}
	return kit.Run(ctx, u, u.begin, u.drain, u.restart, u.release, u.finish)
}

// note copies to the Machine what its node has been updated to, and whether its owner wants it to be updated now.
func (r *Reconciler) note(ctx context.Context, s *scope) error {
	before := s.machine.DeepCopy()
	if applied := s.node.Annotations[gardenmachinev1alpha1.AnnotationInPlaceApplied]; applied != "" {
		metav1.SetMetaDataAnnotation(&s.machine.ObjectMeta, gardenmachinev1alpha1.AnnotationInPlaceApplied, operation.Cut(applied))
	}
	chosen := s.node.Labels[gardenmachinev1alpha1.LabelNodeSelectedForUpdate] == gardenmachinev1alpha1.UpdateTrue
	if manual(s.machine) && chosen && Outdated(s.machine) {
		metav1.SetMetaDataLabel(&s.machine.ObjectMeta, gardenmachinev1alpha1.LabelNodeSelectedForUpdate, gardenmachinev1alpha1.UpdateTrue)
	}
	return r.patch(ctx, s, before)
}

func (r *Reconciler) patch(ctx context.Context, s *scope, before *gardenmachinev1alpha1.Machine) error {
	same := before.Annotations[gardenmachinev1alpha1.AnnotationInPlaceApplied] == s.machine.Annotations[gardenmachinev1alpha1.AnnotationInPlaceApplied] &&
		before.Labels[gardenmachinev1alpha1.LabelNodeSelectedForUpdate] == s.machine.Labels[gardenmachinev1alpha1.LabelNodeSelectedForUpdate]
	if same {
		return nil
	}
	if err := r.Client.Patch(ctx, s.machine, client.MergeFrom(before)); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("write the update of machine %q: %w", s.machine.Name, err)
	}
	return nil
}

// propose marks the node of a machine that is to be updated, for the client that selects machines.
func (r *Reconciler) propose(ctx context.Context, s *scope) error {
	if !Outdated(s.machine) {
		return nil
	}
	shoot, err := r.Shoot(ctx, s.machine.Namespace)
	if err != nil {
		return err
	}
	s.proposed = manual(s.machine)
	u := &updating{r: r, s: s, shoot: shoot.Client}
	if err := u.mark(ctx, func(n *corev1.Node) {
		metav1.SetMetaDataLabel(&n.ObjectMeta, gardenmachinev1alpha1.LabelNodeCandidateForUpdate, gardenmachinev1alpha1.UpdateTrue)
	}); err != nil {
		return err
	}
	return u.condition(ctx, gardenmachinev1alpha1.ReasonCandidate, "The node is to be updated in place")
}

// updating is the update of one machine. Its steps run in order with every look at the machine, and stop where something is to be waited for.
type updating struct {
	r     *Reconciler
	s     *scope
	shoot client.Client
}

// at is how far the update is, and since when.
func (u *updating) at() (string, time.Time) {
	for _, c := range u.s.node.Status.Conditions {
		if c.Type == gardenmachinev1alpha1.NodeInPlaceUpdate {
			return c.Reason, c.LastTransitionTime.Time
		}
	}
	return "", time.Time{}
}

// begun reports whether the update is under way. A node that waits for another state and has no mark was given back after the last one, which
// was not said any more: it takes pods again, and the next update drains it.
func (u *updating) begun() bool {
	reason, _ := u.at()
	labels := u.s.node.Labels
	marked := labels[gardenmachinev1alpha1.LabelNodeCandidateForUpdate] != "" || labels[gardenmachinev1alpha1.LabelNodeSelectedForUpdate] != ""
	return (marked || !Outdated(u.s.machine)) &&
		(reason == gardenmachinev1alpha1.ReasonSelected || reason == gardenmachinev1alpha1.ReasonReadyForUpdate)
}

// begin notes since when the machine is updated, and whether its owner had cordoned it before.
func (u *updating) begin(ctx context.Context, _ *updating) (kit.Outcome, error) {
	if u.begun() {
		return kit.Continue(), u.reselect(ctx)
	}
	err := u.mark(ctx, func(n *corev1.Node) {
		metav1.SetMetaDataLabel(&n.ObjectMeta, gardenmachinev1alpha1.LabelNodeCandidateForUpdate, gardenmachinev1alpha1.UpdateTrue)
		metav1.SetMetaDataLabel(&n.ObjectMeta, gardenmachinev1alpha1.LabelNodeSelectedForUpdate, gardenmachinev1alpha1.UpdateTrue)
		delete(n.Labels, gardenmachinev1alpha1.LabelNodeUpdateResult)
		if n.Spec.Unschedulable {
			metav1.SetMetaDataAnnotation(&n.ObjectMeta, gardenmachinev1alpha1.AnnotationCordonedBefore, gardenmachinev1alpha1.UpdateTrue)
		}
	})
	if err != nil {
		return kit.Stop(), err
	}
	return kit.Continue(), u.condition(ctx, gardenmachinev1alpha1.ReasonSelected, "The node is drained before its update")
}

// reselect keeps the label on the node until it is given back, because without it the node would stay cordoned.
func (u *updating) reselect(ctx context.Context) error {
	if !Outdated(u.s.machine) {
		return nil
	}
	return u.mark(ctx, func(n *corev1.Node) {
		metav1.SetMetaDataLabel(&n.ObjectMeta, gardenmachinev1alpha1.LabelNodeSelectedForUpdate, gardenmachinev1alpha1.UpdateTrue)
	})
}

// drain moves the pods elsewhere, as before a deletion and for as long.
func (u *updating) drain(ctx context.Context, _ *updating) (kit.Outcome, error) {
	reason, since := u.at()
	now := u.r.Clock.Now()
	if reason != gardenmachinev1alpha1.ReasonSelected || now.Sub(since) > drainTimeout(u.s.machine) || silent(u.s.node, now) {
		return kit.Continue(), nil
	}
	left, err := evict(ctx, u.shoot, u.s.node, u.s.machine, since)
	if err != nil {
		return u.wait(ctx, gardenmachinev1alpha1.MachineOperationDrainNode, err.Error())
	}
	if left.text != "" {
		return u.wait(ctx, gardenmachinev1alpha1.MachineOperationDrainNode, left.text)
	}
	return kit.Continue(), nil
}

// restart gives the machine the image of its class. Its container starts again with it; the pod, its address and its volumes stay.
func (u *updating) restart(ctx context.Context, _ *updating) (kit.Outcome, error) {
	class, _, err := u.r.class(ctx, u.s.machine)
	if err != nil {
		return u.failed(ctx, err.Error())
	}
	spec, err := machinepod.ReadSpec(class)
	if err != nil {
		return u.failed(ctx, err.Error())
	}
	containers := u.s.pod.Spec.Containers
	if len(containers) == 0 {
		return u.failed(ctx, "the pod of the machine has no container")
	}
	if containers[0].Image != spec.Image {
		before := u.s.pod.DeepCopy()
		containers[0].Image = spec.Image
		if err := u.s.cloud.Patch(ctx, u.s.pod, client.MergeFrom(before)); err != nil {
			return u.failed(ctx, fmt.Sprintf("give the machine the image %q: %s", spec.Image, err))
		}
		return u.wait(ctx, gardenmachinev1alpha1.MachineOperationInPlaceUpdate, "The machine restarts with the image "+spec.Image)
	}
	statuses := u.s.pod.Status.ContainerStatuses
	if len(statuses) > 0 && !strings.HasSuffix(statuses[0].Image, spec.Image) {
		return u.wait(ctx, gardenmachinev1alpha1.MachineOperationInPlaceUpdate, "The machine does not run with the image "+spec.Image+" yet")
	}
	return kit.Continue(), nil
}

// release lets the agent of the node go on, once the machine runs.
func (u *updating) release(ctx context.Context, _ *updating) (kit.Outcome, error) {
	if reason, _ := u.at(); reason == gardenmachinev1alpha1.ReasonReadyForUpdate {
		return kit.Continue(), nil
	}
	if running, why := deploy.Ready(u.s.pod); !running {
		return u.wait(ctx, gardenmachinev1alpha1.MachineOperationInPlaceUpdate, "The machine is not ready: "+cmp.Or(nodeTrouble(u.s.pod), why))
	}
	return kit.Continue(), u.condition(ctx, gardenmachinev1alpha1.ReasonReadyForUpdate, "The agent of the node updates it")
}

// finish gives the node back to its shoot when its agent says that it has been updated.
func (u *updating) finish(ctx context.Context, _ *updating) (kit.Outcome, error) {
	if Outdated(u.s.machine) {
		if u.s.node.Labels[gardenmachinev1alpha1.LabelNodeUpdateResult] == gardenmachinev1alpha1.UpdateFailed {
			return u.failed(ctx, "The agent of the node: "+u.s.node.Annotations[gardenmachinev1alpha1.AnnotationNodeUpdateFailedReason])
		}
		return u.wait(ctx, gardenmachinev1alpha1.MachineOperationInPlaceUpdate, "The agent of the node updates it")
	}
	if running, why := deploy.Ready(u.s.pod); !running {
		return u.wait(ctx, gardenmachinev1alpha1.MachineOperationInPlaceUpdate, "The updated node is not ready: "+cmp.Or(nodeTrouble(u.s.pod), why))
	}
	err := u.mark(ctx, giveBack)
	if err == nil {
		err = u.condition(ctx, gardenmachinev1alpha1.ReasonUpdateSuccessful, "The node has been updated in place")
	}
	if err != nil {
		return kit.Stop(), err
	}
	return kit.Continue(), u.deselect(ctx)
}

// giveBack takes the marks of an update off a node and leaves it cordoned if it was before. A node without the label was given back already:
// what said whether it was cordoned before is gone, and a cordon that is there now is its owner's.
func giveBack(n *corev1.Node) {
	if n.Labels[gardenmachinev1alpha1.LabelNodeSelectedForUpdate] == "" {
		return
	}
	n.Spec.Unschedulable = n.Annotations[gardenmachinev1alpha1.AnnotationCordonedBefore] != ""
	for _, label := range []string{
		gardenmachinev1alpha1.LabelNodeCandidateForUpdate, gardenmachinev1alpha1.LabelNodeSelectedForUpdate, gardenmachinev1alpha1.LabelNodeUpdateResult,
	} {
		delete(n.Labels, label)
	}
	delete(n.Annotations, gardenmachinev1alpha1.AnnotationCordonedBefore)
	delete(n.Annotations, gardenmachinev1alpha1.AnnotationNodeUpdateFailedReason)
}

// deselect says on the Machine that its update has ended.
func (u *updating) deselect(ctx context.Context) error {
	before := u.s.machine.DeepCopy()
	delete(u.s.machine.Labels, gardenmachinev1alpha1.LabelNodeSelectedForUpdate)
	return u.r.patch(ctx, u.s, before)
}

// wait says what the update waits for, and that it takes too long if it does.
func (u *updating) wait(ctx context.Context, during gardenmachinev1alpha1.MachineOperationType, description string) (kit.Outcome, error) {
	_, since := u.at()
	limit := timeoutOf(u.s.machine.Spec.InPlaceUpdateTimeout, defaultUpdateTimeout)
	if took := u.r.Clock.Since(since); during == gardenmachinev1alpha1.MachineOperationInPlaceUpdate && took > limit {
		return u.failed(ctx, fmt.Sprintf("The update takes longer than %v: %s", limit, description))
	}
	return u.say(ctx, Verdict{
		Phase: gardenmachinev1alpha1.MachineInPlaceUpdating, Operation: during, State: gardenmachinev1alpha1.MachineStateProcessing, Description: description,
	})
}

// failed says what is wrong. The update goes on when it is set right: a machine that could be replaced would not be updated in place.
func (u *updating) failed(ctx context.Context, description string) (kit.Outcome, error) {
	return u.say(ctx, Verdict{
		Phase: gardenmachinev1alpha1.MachineInPlaceUpdateFailed, Operation: gardenmachinev1alpha1.MachineOperationInPlaceUpdate,
		State: gardenmachinev1alpha1.MachineStateFailed, Description: description,
	})
}

func (u *updating) say(ctx context.Context, v Verdict) (kit.Outcome, error) {
	return kit.RequeueAfter(updatePeriod), u.r.write(ctx, u.s, v, u.r.Clock.Now())
}

// mark changes metadata and spec of the node.
func (u *updating) mark(ctx context.Context, change func(n *corev1.Node)) error {
	before := u.s.node.DeepCopy()
	change(u.s.node)
	if err := u.write(ctx, before, u.shoot.Patch); err != nil {
		return fmt.Errorf("mark node %q: %w", u.s.node.Name, err)
	}
	return nil
}

type patcher func(ctx context.Context, object client.Object, patch client.Patch, options ...client.PatchOption) error

func (u *updating) write(ctx context.Context, before *corev1.Node, patch patcher) error {
	changes := client.StrategicMergeFrom(before)
	if data, err := changes.Data(u.s.node); err == nil && string(data) == "{}" {
		return nil
	}
	return patch(ctx, u.s.node, changes)
}

// condition says on the node how far its update is.
func (u *updating) condition(ctx context.Context, reason, message string) error {
	before := u.s.node.DeepCopy()
	now := metav1.NewTime(u.r.Clock.Now())
	want := corev1.NodeCondition{
		Type: gardenmachinev1alpha1.NodeInPlaceUpdate, Status: corev1.ConditionTrue, Reason: reason, Message: message,
		LastHeartbeatTime: now, LastTransitionTime: now,
	}
	all := &u.s.node.Status.Conditions
	index := slices.IndexFunc(*all, func(c corev1.NodeCondition) bool { return c.Type == want.Type })
	switch {
	case index < 0:
		*all = append(*all, want)
	case (*all)[index].Reason == reason:
		return nil
	default:
		(*all)[index] = want
	}
	status := func(ctx context.Context, object client.Object, patch client.Patch, _ ...client.PatchOption) error {
		return u.shoot.Status().Patch(ctx, object, patch)
	}
	if err := u.write(ctx, before, status); err != nil {
		return fmt.Errorf("write the condition %s of node %q: %w", gardenmachinev1alpha1.NodeInPlaceUpdate, u.s.node.Name, err)
	}
	return nil
}
