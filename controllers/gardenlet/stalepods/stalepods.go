// SPDX-License-Identifier: Apache-2.0

// Package stalepods deletes pods that nobody needs any more and that nobody else deletes.
package stalepods

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// Verdict says what is done with a pod.
type Verdict string

// The verdicts.
const (
	// Keep leaves a pod alone.
	Keep Verdict = "Keep"
	// Delete deletes it.
	Delete Verdict = "Delete"
	// Force deletes it without waiting for its node.
	Force Verdict = "Force"
)

const (
	// patience is how long a pod may be in deletion.
	patience = 5 * time.Minute
	pageSize = 500
	// mostTold is how many pods that cannot be deleted are told.
	mostTold = 10

	reasonEvicted        = "Evicted"
	reasonOutOf          = "OutOf"
	kindReplicaSet       = "ReplicaSet"
	noGrace        int64 = 0
)

// Judge says what is done with a pod (GLET-GC-2).
func Judge(pod *corev1.Pod, now time.Time) Verdict {
	if ended := pod.DeletionTimestamp; ended != nil {
		if now.Sub(ended.Time) > patience {
			return Force
		}
		return Keep
	}
	reason := pod.Status.Reason
	refused := slices.ContainsFunc([]string{"NodeAffinity", "NodeLost", "Preempting"}, func(why string) bool { return strings.Contains(reason, why) })
	if reason == reasonEvicted || strings.HasPrefix(reason, reasonOutOf) || refused {
		return Delete
	}
	if terminal(pod) && (disrupted(pod) || replaced(pod)) {
		return Delete
	}
	return Keep
}

func terminal(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded
}

// disrupted reports whether something else than its own end has ended a pod.
func disrupted(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue
	})
}

// replaced reports whether a ReplicaSet has made another pod in its place.
func replaced(pod *corev1.Pod) bool {
	owner := metav1.GetControllerOf(pod)
	return owner != nil && owner.Kind == kindReplicaSet
}

// Collector deletes stale pods of one cluster.
type Collector struct {
	Client client.Client
	Now    time.Time
	// Spare keeps the pods of a namespace; nil spares none.
	Spare func(namespace string) bool
}

// Collect deletes the stale pods that are listed with the options, and returns how many. One that cannot be deleted does not
// protect the others.
func (c Collector) Collect(ctx context.Context, options ...client.ListOption) (int, error) {
	var failed []error
	var deleted int
	pods := kit.Pages[*corev1.PodList]{
		Reader: c.Client, Size: pageSize, Options: options, New: func() *corev1.PodList { return &corev1.PodList{} },
	}
	err := pods.Each(ctx, func(page *corev1.PodList) error {
		for i := range page.Items {
			pod := &page.Items[i]
			verdict := Judge(pod, c.Now)
			if verdict == Keep || c.Spare != nil && c.Spare(pod.Namespace) {
				continue
			}
			if err := c.remove(ctx, pod, verdict); err == nil {
				deleted++
			} else if len(failed) < mostTold {
				failed = append(failed, err)
			}
		}
		return nil
	})
	if err != nil {
		failed = append(failed, fmt.Errorf("list pods: %w", err))
	}
	return deleted, errors.Join(failed...)
}

// remove deletes just this pod, and not another one that has got its name.
func (c Collector) remove(ctx context.Context, pod *corev1.Pod, verdict Verdict) error {
	options := []client.DeleteOption{client.Preconditions{UID: &pod.UID}}
	if verdict == Force {
		options = append(options, client.GracePeriodSeconds(noGrace))
	}
	if err := c.Client.Delete(ctx, pod, options...); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete stale pod %q: %w", client.ObjectKeyFromObject(pod), err)
	}
	return nil
}
