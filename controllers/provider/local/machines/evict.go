// SPDX-License-Identifier: Apache-2.0

package machines

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardenmachinev1alpha1 "github.com/terrarium-garden/terrarium/apis/machine/v1alpha1"
)

const (
	// fieldNode selects pods by their node.
	fieldNode = "spec.nodeName"
	// namedPods is how many of the pods that are left a message names.
	namedPods = 3

	// isEnding and isRefused are what becomes of a pod.
	isEnding  = "is ending"
	isRefused = "a PodDisruptionBudget does not allow its eviction"
)

// remainder is what a drain has left to do.
type remainder struct {
	// text says it; it is empty if no pod is there that can be moved.
	text string
	// refused is set if a pod may not be evicted yet, and not if all that is left is ending.
	refused bool
	// failed are the answers of the shoot to evictions that it neither carries out nor refuses because of a budget, joined.
	failed error
}

// evict keeps new pods from the node of a machine that goes or is updated since a moment, and evicts those that it has.
func evict(ctx context.Context, shoot client.Client, node *corev1.Node, machine *gardenmachinev1alpha1.Machine, since time.Time) (remainder, error) {
	if err := cordon(ctx, shoot, node); err != nil {
		return remainder{}, err
	}
	return evictAll(ctx, shoot, node, machine, since)
}

// evictAll evicts the pods of a node, each of them whatever the shoot answers about another.
func evictAll(ctx context.Context, shoot client.Client, node *corev1.Node, machine *gardenmachinev1alpha1.Machine, since time.Time) (remainder, error) {
	list := &corev1.PodList{}
	if err := shoot.List(ctx, list, client.MatchingFields{fieldNode: node.Name}); err != nil {
		return remainder{}, fmt.Errorf("list the pods of node %q: %w", node.Name, err)
	}
	var pods []leaving
	for i := range list.Items {
		pod := &list.Items[i]
		if stays(pod) || comesBack(pod, since) {
			continue
		}
		one, err := evictOne(ctx, shoot, pod, graceOf(pod, machine))
		if err != nil {
			return remainder{}, err
		}
		pods = append(pods, one)
	}
	return remains(node, pods), nil
}

// leaving is a pod of a drain, and what becomes of it.
type leaving struct {
	name, state string
	// failed is the answer of the shoot if its eviction fails for this pod.
	failed error
}

// remains sums up what is left. Pods whose eviction fails come first, because a message names only some.
func remains(node *corev1.Node, pods []leaving) remainder {
	var left remainder
	var broken, others []string
	var errs []error
	for _, pod := range pods {
		text := fmt.Sprintf("%s (%s)", pod.name, pod.state)
		left.refused = left.refused || pod.state != isEnding
		if pod.failed == nil {
			others = append(others, text)
			continue
		}
		broken, errs = append(broken, text), append(errs, fmt.Errorf("evict pod %q: %w", pod.name, pod.failed))
	}
	if len(pods) > 0 {
		left.text = fmt.Sprintf("Draining node %q: %d pods are left: %s", node.Name, len(pods), few(append(broken, others...)))
	}
	left.failed = errors.Join(errs...)
	return left
}

func few(pods []string) string {
	if len(pods) <= namedPods {
		return strings.Join(pods, ", ")
	}
	return strings.Join(pods[:namedPods], ", ") + ", …"
}

func cordon(ctx context.Context, shoot client.Client, node *corev1.Node) error {
	if node.Spec.Unschedulable {
		return nil
	}
	before := node.DeepCopy()
	node.Spec.Unschedulable = true
	if err := shoot.Patch(ctx, node, client.MergeFrom(before)); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("cordon node %q: %w", node.Name, err)
	}
	return nil
}

// stays reports whether a pod is left alone: it belongs to the node, as those of DaemonSets and static ones do, or it has ended.
func stays(pod *corev1.Pod) bool {
	if _, static := pod.Annotations[corev1.MirrorPodAnnotationKey]; static {
		return true
	}
	if owner := metav1.GetControllerOf(pod); owner != nil && owner.Kind == "DaemonSet" {
		return true
	}
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// comesBack reports whether a pod came after the drain began, to a node that takes no new pods, because it tolerates that. It would be
// replaced by another of its kind on the same node, for ever, so it goes with the machine.
func comesBack(pod *corev1.Pod, began time.Time) bool {
	cordoned := &corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}
	return pod.CreationTimestamp.After(began) && slices.ContainsFunc(pod.Spec.Tolerations, func(t corev1.Toleration) bool {
		return t.ToleratesTaint(logr.Discard(), cordoned, false)
	})
}

// graceOf is how many seconds a pod has to end; nil stands for those that it asks for itself. No pod has more than these,
// and they are one at least: with zero, a pod would leave the shoot before its containers have ended.
func graceOf(pod *corev1.Pod, machine *gardenmachinev1alpha1.Machine) *int64 {
	most, err := strconv.ParseInt(machine.Annotations[gardenmachinev1alpha1.AnnotationMaxGracefulTermination], 10, 64)
	wanted := ptr.Deref(pod.Spec.TerminationGracePeriodSeconds, corev1.DefaultTerminationGracePeriodSeconds)
	if err != nil || most < 0 || wanted <= most {
		return nil
	}
	return new(max(most, 1))
}

// evictOne asks the shoot to end one pod, and returns what becomes of it. What the shoot answers is about this pod only, so it is no error:
// the others are evicted nevertheless. It is one if the shoot does not answer.
func evictOne(ctx context.Context, shoot client.Client, pod *corev1.Pod, grace *int64) (leaving, error) {
	one := leaving{name: pod.Namespace + "/" + pod.Name, state: isEnding}
	if pod.DeletionTimestamp != nil {
		return one, nil
	}
	eviction := &policyv1.Eviction{
		ObjectMeta:    metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name},
		DeleteOptions: &metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(pod.UID)), GracePeriodSeconds: grace},
	}
	err := shoot.SubResource("eviction").Create(ctx, pod, eviction)
	switch {
	case err == nil, apierrors.IsNotFound(err), apierrors.IsConflict(err):
	case apierrors.IsTooManyRequests(err):
		one.state = isRefused
	case answered(err):
		one.state, one.failed = "its eviction fails: "+err.Error(), err
	default:
		return leaving{}, fmt.Errorf("evict pod %q: %w", one.name, err)
	}
	return one, nil
}

// answered reports whether an error is what an API server says, and not that it could not be asked.
func answered(err error) bool {
	_, ok := errors.AsType[*apierrors.StatusError](err)
	return ok
}
