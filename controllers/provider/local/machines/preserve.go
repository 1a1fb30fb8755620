// SPDX-License-Identifier: Apache-2.0

package machines

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardenmachinev1alpha1 "github.com/terrarium-garden/terrarium/apis/machine/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/preservation"
)

// heed writes into the Machine what the owner of the shoot says on its node about whether it is kept: before the Machine fails, so that its
// set knows in time. The set keeps a Machine only as long as it fails.
func (r *Reconciler) heed(ctx context.Context, s *scope) (kit.Outcome, error) {
	before := s.machine.DeepCopy()
	said := s.machine.Annotations
	if s.node != nil {
		switch wish := s.node.Annotations[gardenmachinev1alpha1.AnnotationPreserve]; wish {
		case gardenmachinev1alpha1.PreserveNow, gardenmachinev1alpha1.PreserveWhenFailed, gardenmachinev1alpha1.PreserveFalse:
			metav1.SetMetaDataAnnotation(&s.machine.ObjectMeta, gardenmachinev1alpha1.AnnotationNodePreserve, wish)
			delete(s.machine.Annotations, gardenmachinev1alpha1.AnnotationPreserve)
		default:
			delete(said, gardenmachinev1alpha1.AnnotationNodePreserve)
		}
	}
	if said[gardenmachinev1alpha1.AnnotationPreserve] == gardenmachinev1alpha1.PreserveAuto && !preservation.Failed(s.machine) {
		delete(said, gardenmachinev1alpha1.AnnotationPreserve)
	}
	return kit.Continue(), r.annotate(ctx, s, before)
}

func (r *Reconciler) annotate(ctx context.Context, s *scope, before *gardenmachinev1alpha1.Machine) error {
	if maps.Equal(before.Annotations, s.machine.Annotations) {
		return nil
	}
	if err := r.Client.Patch(ctx, s.machine, client.MergeFrom(before)); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("note whether machine %q is kept: %w", s.machine.Name, err)
	}
	return nil
}

// keep brings to the node whether its machine is kept. One that has failed and is not kept goes with its node.
func (r *Reconciler) keep(ctx context.Context, s *scope, now time.Time) error {
	kept := preservation.Kept(s.machine, now)
	if s.node == nil || preservation.Failed(s.machine) && !kept {
		return nil
	}
	shoot, err := r.Shoot(ctx, s.machine.Namespace)
	if err != nil {
		return err
	}
	k := keeping{node: s.node, shoot: shoot.Client, now: now}
	if !kept {
		if err := k.end(ctx, preservation.Over(s.machine, now)); err != nil || !preservation.Over(s.machine, now) {
			return err
		}
		return r.forget(ctx, s)
	}
	if err := k.begin(ctx, s.machine); err != nil || !preservation.Failed(s.machine) {
		return err
	}
	left, err := evictAll(ctx, shoot.Client, s.node, s.machine, s.machine.Status.CurrentStatus.LastUpdateTime.Time)
	return errors.Join(err, left.failed)
}

// forget takes the wish off a Machine whose time is over, so that it is not kept once more.
func (r *Reconciler) forget(ctx context.Context, s *scope) error {
	before := s.machine.DeepCopy()
	delete(s.machine.Annotations, gardenmachinev1alpha1.AnnotationPreserve)
	delete(s.machine.Annotations, gardenmachinev1alpha1.AnnotationNodePreserve)
	return r.annotate(ctx, s, before)
}

// keeping is the node of a machine that is kept, or was.
type keeping struct {
	node  *corev1.Node
	shoot client.Client
	now   time.Time
}

// begin keeps autoscalers from the node, and pods too if its machine has failed.
func (k keeping) begin(ctx context.Context, m *gardenmachinev1alpha1.Machine) error {
	err := k.mark(ctx, func(n *corev1.Node) {
		if n.Annotations[gardenmachinev1alpha1.AnnotationScaleDownDisabled] != gardenmachinev1alpha1.PreserveTrue {
			metav1.SetMetaDataAnnotation(&n.ObjectMeta, gardenmachinev1alpha1.AnnotationScaleDownDisabled, gardenmachinev1alpha1.PreserveTrue)
			metav1.SetMetaDataAnnotation(&n.ObjectMeta, gardenmachinev1alpha1.AnnotationScaleDownDisabledByPreservation, gardenmachinev1alpha1.PreserveTrue)
		}
		switch {
		case !preservation.Failed(m):
			untaint(n)
		case !slices.ContainsFunc(n.Spec.Taints, isOurs):
			n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: gardenmachinev1alpha1.TaintPreserved, Effect: corev1.TaintEffectNoSchedule})
		}
	})
	if err != nil {
		return err
	}
	c := corev1.NodeCondition{Status: corev1.ConditionTrue, Reason: gardenmachinev1alpha1.ReasonPreservedByUser}
	if preservation.Wish(m) == gardenmachinev1alpha1.PreserveAuto {
		c.Reason = gardenmachinev1alpha1.ReasonPreservedByMCM
	}
	if end := m.Status.CurrentStatus.PreserveExpiryTime; end != nil {
		c.Message = "The machine is kept until " + end.UTC().Format(time.RFC3339)
	}
	return k.condition(ctx, c)
}

// end takes back what begin has done. If the time is over, it takes the wish off too.
func (k keeping) end(ctx context.Context, over bool) error {
	err := k.mark(ctx, func(n *corev1.Node) {
		if n.Annotations[gardenmachinev1alpha1.AnnotationScaleDownDisabledByPreservation] != "" {
			delete(n.Annotations, gardenmachinev1alpha1.AnnotationScaleDownDisabled)
			delete(n.Annotations, gardenmachinev1alpha1.AnnotationScaleDownDisabledByPreservation)
		}
		if over {
			delete(n.Annotations, gardenmachinev1alpha1.AnnotationPreserve)
		}
		untaint(n)
	})
	if err != nil || !slices.ContainsFunc(k.node.Status.Conditions, func(c corev1.NodeCondition) bool { return c.Type == gardenmachinev1alpha1.NodePreserved }) {
		return err
	}
	return k.condition(ctx, corev1.NodeCondition{
		Status: corev1.ConditionFalse, Reason: gardenmachinev1alpha1.ReasonPreservationIsOver, Message: "The machine is not kept any more",
	})
}

func isOurs(t corev1.Taint) bool { return t.Key == gardenmachinev1alpha1.TaintPreserved }

func untaint(n *corev1.Node) { n.Spec.Taints = slices.DeleteFunc(n.Spec.Taints, isOurs) }

// mark changes metadata and spec of the node. Others change its taints, so it must not have been changed since it was read.
func (k keeping) mark(ctx context.Context, change func(n *corev1.Node)) error {
	before := k.node.DeepCopy()
	change(k.node)
	if maps.Equal(before.Annotations, k.node.Annotations) && len(before.Spec.Taints) == len(k.node.Spec.Taints) {
		return nil
	}
	patch := client.StrategicMergeFrom(before, client.MergeFromWithOptimisticLock{})
	if err := k.shoot.Patch(ctx, k.node, patch); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("mark node %q whose machine is kept: %w", k.node.Name, err)
	}
	return nil
}

// condition says on the node whether its machine is kept.
func (k keeping) condition(ctx context.Context, want corev1.NodeCondition) error {
	want.Type, want.LastHeartbeatTime, want.LastTransitionTime = gardenmachinev1alpha1.NodePreserved, metav1.NewTime(k.now), metav1.NewTime(k.now)
	before := k.node.DeepCopy()
	all := &k.node.Status.Conditions
	index := slices.IndexFunc(*all, func(c corev1.NodeCondition) bool { return c.Type == want.Type })
	switch {
	case index < 0:
		*all = append(*all, want)
	case (*all)[index].Reason == want.Reason && (*all)[index].Message == want.Message:
		return nil
	default:
		(*all)[index] = want
	}
	if err := k.shoot.Status().Patch(ctx, k.node, client.StrategicMergeFrom(before)); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("write the condition %s of node %q: %w", gardenmachinev1alpha1.NodePreserved, k.node.Name, err)
	}
	return nil
}
