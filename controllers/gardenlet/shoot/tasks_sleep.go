// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-logr/logr"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/flow"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const (
	// sleepTimeout is how long nodes and pods may take to go.
	sleepTimeout = 10 * time.Minute
	sleepPoll    = 500 * time.Millisecond
	// leadershipReleased is the task after which the API server may stop, releaseTimeout is how long it may take.
	leadershipReleased flow.ID = "leadership-release"
	releaseTimeout             = 5 * time.Second
	// attachmentPatience is how long a VolumeAttachment may be in deletion before its finalizers are removed.
	attachmentPatience = 5 * time.Minute
)

// sleep waits until nothing runs in a shoot any more that is being put to sleep. Its control plane stops after that, from the
// controllers down to the stores. Volumes and the data of the stores stay (GLET-HIB-2, GLET-HIB-6).
type sleep struct {
	ground

	shoots      *kit.Shoots
	shootClient *flow.Value[client.Client]
}

func (s sleep) fragment() fragment {
	awake := s.facts.Power != facts.FallingAsleep
	return fragment{deploy: []flow.Task{{
		ID: "hibernate", Title: "Waiting until nothing runs in the cluster any more", After: slices.Concat(
			sizing{ground: s.ground}.stopped(), machineControl{ground: s.ground}.stopped(),
			after("worker-wait", "controlplane-wait", "kcm-wait", "scheduler-wait", "ext-after-api-wait", "ext-after-worker-wait"),
		),
		Reads: []flow.Slot{s.shootClient}, Timeout: sleepTimeout, Skip: awake, Do: s.awaitRest,
	}, {
		ID: leadershipReleased, Title: "Releasing what the controllers have led", After: after("scheduler-stop-wait", "kcm-stop-wait"),
		Reads: []flow.Slot{s.shootClient}, Skip: awake, Do: s.releaseLeadership,
	}}}
}

// awaitRest ends when the cluster is at rest.
func (s sleep) awaitRest(ctx context.Context) error {
	return flow.Until(ctx, s.clock, flow.Every(sleepPoll), func(ctx context.Context) error {
		left, err := s.unrest(ctx, s.shootClient.Get(ctx))
		if err == nil && !left.none() {
			err = errors.New("still there: " + left.String())
		}
		return err
	})
}

// releaseLeadership deletes the leases of the scheduler and of the controller manager, which are gone by now. Not all of their versions
// release them at their end, and then those that are started when the shoot wakes up would wait until they have seen the lease unchanged
// for its whole duration. It must not keep a shoot awake that a webhook of its owner forbids it, so whatever goes wrong is only logged. The
// connection to the cluster is closed after that, because nobody answers any more.
func (s sleep) releaseLeadership(ctx context.Context) error {
	defer s.shoots.Drop(s.facts.Namespace)
	limited, cancel := context.WithTimeout(ctx, releaseTimeout)
	defer cancel()
	var failed error
	for _, name := range []string{gardencorev1beta1.DeploymentKubeControllerManager, gardencorev1beta1.DeploymentKubeScheduler} {
		lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: name}}
		failed = errors.Join(failed, client.IgnoreNotFound(s.shootClient.Get(ctx).Delete(limited, lease)))
	}
	if failed != nil {
		logr.FromContextOrDiscard(ctx).Info("Leases are not released, so waking up will take longer", "reason", failed.Error())
	}
	return ctx.Err()
}

// unrest names what is left, and helps it to go: first Nodes, then the pods that were on them, then addresses of pods and
// attachments of volumes.
func (s sleep) unrest(ctx context.Context, shoot client.Client) (leftover, error) {
	for _, look := range []func(context.Context, client.Client) (leftover, error){nodesLeft, podsLeft, endpointsLeft, s.attachmentsLeft} {
		if left, err := look(ctx, shoot); err != nil || !left.none() {
			return left, err
		}
	}
	return leftover{}, nil
}

func nodesLeft(ctx context.Context, shoot client.Client) (leftover, error) {
	var left leftover
	err := metadataPages(shoot, corev1.SchemeGroupVersion.WithKind("Node")).Each(ctx, func(page *metav1.PartialObjectMetadataList) error {
		for i := range page.Items {
			left.add(fmt.Sprintf("node %q", page.Items[i].Name))
		}
		return nil
	})
	if err != nil {
		return left, fmt.Errorf("list nodes: %w", err)
	}
	return left, nil
}

// podsLeft deletes the pods of nodes that are gone at once. The controller manager would do it as well, but not within a minute.
func podsLeft(ctx context.Context, shoot client.Client) (leftover, error) {
	var left leftover
	pods := kit.Pages[*corev1.PodList]{Reader: shoot, Size: ownersPage, New: func() *corev1.PodList { return &corev1.PodList{} }}
	err := pods.Each(ctx, func(page *corev1.PodList) error {
		for i := range page.Items {
			pod := &page.Items[i]
			if pod.Spec.NodeName == "" {
				continue
			}
			if !over(pod) {
				left.add(fmt.Sprintf("pod %q", pod.Namespace+"/"+pod.Name))
			}
			if err := shoot.Delete(ctx, pod, client.GracePeriodSeconds(0)); client.IgnoreNotFound(err) != nil {
				return fmt.Errorf("delete pod %q of a node that is gone: %w", client.ObjectKeyFromObject(pod), err)
			}
		}
		return nil
	})
	if err != nil {
		return left, fmt.Errorf("look for pods: %w", err)
	}
	return left, nil
}

// over reports whether a pod whose node is gone does not run any more: it has ended, or it is deleted already and only kept by a finalizer,
// which nobody may take off while the cluster sleeps (GLET-HIB-2).
func over(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp != nil || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

func endpointsLeft(ctx context.Context, shoot client.Client) (leftover, error) {
	var left leftover
	all := kit.Pages[*discoveryv1.EndpointSliceList]{
		Reader: shoot, Size: ownersPage, New: func() *discoveryv1.EndpointSliceList { return &discoveryv1.EndpointSliceList{} },
	}
	err := all.Each(ctx, func(page *discoveryv1.EndpointSliceList) error {
		for i := range page.Items {
			slice := &page.Items[i]
			if slices.ContainsFunc(slice.Endpoints, func(e discoveryv1.Endpoint) bool { return e.TargetRef != nil && e.TargetRef.Kind == "Pod" }) {
				left.add(fmt.Sprintf("addresses of pods in endpoint slice %q", slice.Namespace+"/"+slice.Name))
			}
		}
		return nil
	})
	if err != nil {
		return left, fmt.Errorf("list endpoint slices: %w", err)
	}
	return left, nil
}

func (s sleep) attachmentsLeft(ctx context.Context, shoot client.Client) (leftover, error) {
	var left leftover
	kind := storagev1.SchemeGroupVersion.WithKind("VolumeAttachment")
	err := metadataPages(shoot, kind).Each(ctx, func(page *metav1.PartialObjectMetadataList) error {
		for i := range page.Items {
			attachment := &page.Items[i]
			attachment.SetGroupVersionKind(kind)
			left.add(fmt.Sprintf("volume attachment %q", attachment.Name))
			if err := s.detach(ctx, shoot, attachment); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return left, fmt.Errorf("look for volume attachments: %w", err)
	}
	return left, nil
}

// detach deletes an attachment, and after a while also without those who hold it.
func (s sleep) detach(ctx context.Context, shoot client.Client, attachment *metav1.PartialObjectMetadata) error {
	if attachment.DeletionTimestamp == nil {
		if err := shoot.Delete(ctx, attachment); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("delete volume attachment %q: %w", attachment.Name, err)
		}
		return nil
	}
	if s.clock.Since(attachment.DeletionTimestamp.Time) < attachmentPatience {
		return nil
	}
	before := attachment.DeepCopy()
	attachment.Finalizers = nil
	if err := shoot.Patch(ctx, attachment, client.MergeFrom(before)); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("remove the finalizers of volume attachment %q: %w", attachment.Name, err)
	}
	return nil
}
