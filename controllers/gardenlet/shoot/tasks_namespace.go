// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component/namespace"
	"github.com/terrarium-garden/terrarium/controllers/flow"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const namespaceTimeout = 10 * time.Minute

// home is the namespace of the shoot in the seed.
type home struct {
	ground

	report report
	shoots *kit.Shoots
}

func (h home) fragment(found remains) fragment {
	return fragment{
		deploy: []flow.Task{
			{ID: "namespace", Title: "Deploying the namespace of the control plane", Do: h.deploy},
			{ID: "cluster-identity-status", Title: "Reporting the identity of the cluster", After: after("namespace"), Do: h.publishIdentity},
		},
		destroy: []flow.Task{
			{
				ID: "namespace-delete", Title: "Deleting the namespace of the control plane",
				After: after("etcd-main-delete", "etcd-events-delete", "webhooks-address-delete"), Skip: !found.namespace, Do: h.delete,
			},
			{
				ID: "namespace-delete-wait", Title: "Waiting until the namespace of the control plane is gone",
				After: after("namespace-delete", "garden-credentials-delete"), Timeout: namespaceTimeout, Do: h.waitGone,
			},
		},
	}
}

// deploy applies the namespace, and the priority classes that all control planes share.
func (h home) deploy(ctx context.Context) error {
	live := &corev1.Namespace{}
	err := h.seed.Get(ctx, client.ObjectKey{Name: h.facts.Namespace}, live)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("get namespace %q: %w", h.facts.Namespace, err)
	}
	if err == nil && live.DeletionTimestamp != nil {
		return fmt.Errorf("namespace %q is still being deleted", h.facts.Namespace)
	}
	return h.engine().Apply(ctx, slices.Concat(namespace.PriorityClasses(), namespace.Render(h.facts, err == nil && namespace.Anywhere(live)))...)
}

// publishIdentity writes the identity of the cluster once.
func (h home) publishIdentity(ctx context.Context) error {
	return h.report(ctx, func(s *gardencorev1beta1.ShootStatus) {
		if s.ClusterIdentity == nil {
			s.ClusterIdentity = &h.facts.ClusterIdentity
		}
	})
}

// delete confirms the deletion of the namespace first, because a seed may protect namespaces. The client of the shoot is dropped,
// because there is no API server any more.
func (h home) delete(ctx context.Context) error {
	h.shoots.Drop(h.facts.Namespace)
	namespace := &corev1.Namespace{}
	err := h.seed.Get(ctx, client.ObjectKey{Name: h.facts.Namespace}, namespace)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("get namespace %q: %w", h.facts.Namespace, err)
	}
	before := namespace.DeepCopy()
	metav1.SetMetaDataAnnotation(&namespace.ObjectMeta, gardencorev1beta1.AnnotationConfirmationDeletion, "true")
	if err := h.seed.Patch(ctx, namespace, client.MergeFrom(before)); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("confirm the deletion of namespace %q: %w", namespace.Name, err)
	}
	return h.engine().Delete(ctx, namespace)
}

// waitGone also waits for a namespace that an earlier run has deleted.
func (h home) waitGone(ctx context.Context) error {
	return h.engine().WaitGone(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: h.facts.Namespace}})
}
