// SPDX-License-Identifier: Apache-2.0

package machines

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardenmachinev1alpha1 "github.com/terrarium-garden/terrarium/apis/machine/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const (
	// evictionPeriod is the time between two attempts to evict a pod, and endingPeriod that between two looks at pods that end.
	evictionPeriod = 5 * time.Second
	endingPeriod   = time.Second
	// attemptPeriod is the time that one attempt of spec.maxEvictRetries stands for.
	attemptPeriod = 20 * time.Second
	// silentNode is how long a node may say nothing until its pods are not waited for: nobody would end them.
	silentNode = 5 * time.Minute
	// stopPeriod is how often a pod that ends is looked at without an event.
	stopPeriod = 2 * time.Second
)

// drain moves the pods of the node elsewhere, unless there is nothing to move or no time left.
func (r *Reconciler) drain(ctx context.Context, s *scope) (kit.Outcome, error) {
	if skip := r.skipDrain(s); skip {
		return kit.Continue(), nil
	}
	if s.nodeError != nil {
		return r.draining(ctx, s, evictionPeriod, "The shoot does not answer: "+s.nodeError.Error())
	}
	if s.node == nil || silent(s.node, r.Clock.Now()) {
		return kit.Continue(), nil
	}
	shoot, err := r.Shoot(ctx, s.machine.Namespace)
	if err != nil {
		return kit.Stop(), err
	}
	left, err := evict(ctx, shoot.Client, s.node, s.machine, s.machine.DeletionTimestamp.Time)
	if err != nil {
		return r.draining(ctx, s, evictionPeriod, err.Error())
	}
	switch {
	case left.text == "":
		return kit.Continue(), nil
	case left.refused:
		return r.draining(ctx, s, evictionPeriod, left.text)
	default:
		return r.draining(ctx, s, endingPeriod, left.text)
	}
}

// skipDrain reports whether the machine goes without a drain: because somebody wants that, because it never was in the shoot or the shoot
// is not there any more, or because the drain has taken too long.
func (r *Reconciler) skipDrain(s *scope) bool {
	forced := s.machine.Labels[gardenmachinev1alpha1.LabelForceDeletion] == gardenmachinev1alpha1.ForceDeletion
	if forced || s.pod == nil || s.pod.DeletionTimestamp != nil || unreachable(s.nodeError) {
		return true
	}
	return r.Clock.Since(s.machine.DeletionTimestamp.Time) > drainTimeout(s.machine)
}

func drainTimeout(m *gardenmachinev1alpha1.Machine) time.Duration {
	timeout := timeoutOf(m.Spec.DrainTimeout, defaultDrainTimeout)
	if retries := ptr.Deref(m.Spec.MaxEvictRetries, 0); retries > 0 {
		timeout = min(timeout, time.Duration(retries)*attemptPeriod)
	}
	return timeout
}

// silent reports whether the kubelet of a node has not answered for so long that it will not end any pod.
func silent(node *corev1.Node, now time.Time) bool {
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status != corev1.ConditionTrue && now.Sub(c.LastTransitionTime.Time) > silentNode
		}
	}
	return false
}

// draining reports what the drain waits for, and looks again after a while.
func (r *Reconciler) draining(ctx context.Context, s *scope, after time.Duration, description string) (kit.Outcome, error) {
	err := r.terminating(ctx, s, gardenmachinev1alpha1.MachineOperationDrainNode, description)
	return kit.RequeueAfter(after), err
}

func (r *Reconciler) terminating(ctx context.Context, s *scope, operation gardenmachinev1alpha1.MachineOperationType, description string) error {
	return r.write(ctx, s, Verdict{
		Phase: gardenmachinev1alpha1.MachineTerminating, Operation: operation, State: gardenmachinev1alpha1.MachineStateProcessing, Description: description,
	}, r.Clock.Now())
}

// stop deletes the pod, waits until it is gone, and deletes its user data.
func (r *Reconciler) stop(ctx context.Context, s *scope) (kit.Outcome, error) {
	if s.key.Name == "" {
		return kit.Continue(), nil
	}
	if s.pod == nil {
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.key.Namespace, Name: s.key.Name}}
		if err := s.cloud.Delete(ctx, secret); client.IgnoreNotFound(err) != nil {
			return kit.Stop(), fmt.Errorf("delete user data of machine %q: %w", s.machine.Name, err)
		}
		return kit.Continue(), nil
	}
	if s.pod.DeletionTimestamp == nil {
		if err := s.cloud.Delete(ctx, s.pod); client.IgnoreNotFound(err) != nil {
			return kit.Stop(), fmt.Errorf("delete the pod of machine %q: %w", s.machine.Name, err)
		}
	}
	if err := r.terminating(ctx, s, gardenmachinev1alpha1.MachineOperationDelete, "Stopping the machine"); err != nil {
		return kit.Stop(), err
	}
	return kit.RequeueAfter(stopPeriod), nil
}

// release lets the Machine go. It is not there any more if somebody else removed the finalizers.
func (r *Reconciler) release(ctx context.Context, s *scope) (kit.Outcome, error) {
	err := kit.DropFinalizer(ctx, r.Client, s.machine, gardenmachinev1alpha1.FinalizerMachineControllerManager)
	if apierrors.IsNotFound(err) {
		err = nil
	}
	return kit.Continue(), err
}
