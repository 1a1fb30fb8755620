// SPDX-License-Identifier: Apache-2.0

package care

import (
	"context"
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component/coredns"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/care/webhook"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/stalepods"
)

// tidy makes the changes that belong to care: it corrects webhooks, if that is switched on, deletes stale pods of the shoot, and sizes the DNS servers
// of the shoot if their number is to follow that of the nodes, which have just been looked at. One part that
// fails is tried again with the next check, and does not stop the others (GLET-CARE-2).
func (r *Reconciler) tidy(ctx context.Context, shoot *gardencorev1beta1.Shoot, w *World) {
	err := errors.Join(r.correct(ctx, w), r.collectInside(ctx, shoot, w), scaleDNS(ctx, shoot, w))
	if err != nil && ctx.Err() == nil {
		ctrl.LoggerFrom(ctx).Error(err, "Shoot could not be tidied up")
	}
}

// collectPlane deletes stale pods of the control plane, while the checks are made (GLET-GC-1).
func (r *Reconciler) collectPlane(ctx context.Context, shoot *gardencorev1beta1.Shoot) {
	deleted, err := stalepods.Collector{Client: r.SeedClient, Now: r.Clock.Now()}.Collect(ctx, client.InNamespace(shoot.Status.TechnicalID))
	log := ctrl.LoggerFrom(ctx)
	if err != nil && ctx.Err() == nil {
		log.Error(err, "Control plane could not be tidied up")
	}
	if deleted > 0 {
		log.Info("Stale pods of the control plane deleted", "pods", deleted)
	}
}

// collectInside deletes stale pods in namespace kube-system of the shoot, or in all its namespaces when it is in deletion (GLET-GC-1).
func (r *Reconciler) collectInside(ctx context.Context, shoot *gardencorev1beta1.Shoot, w *World) error {
	if w.access == nil || !ok(w.API.Status) {
		return nil
	}
	var where []client.ListOption
	if shoot.DeletionTimestamp == nil {
		where = append(where, client.InNamespace(metav1.NamespaceSystem))
	}
	deleted, err := stalepods.Collector{Client: w.access, Now: r.Clock.Now()}.Collect(ctx, where...)
	if deleted > 0 {
		ctrl.LoggerFrom(ctx).Info("Stale pods of the shoot deleted", "pods", deleted)
	}
	return err
}

// scaleDNS sets the number of DNS servers. What could not be looked at changes nothing, nor does a shoot in deletion.
func scaleDNS(ctx context.Context, shoot *gardencorev1beta1.Shoot, w *World) error {
	if !coredns.Proportional(&shoot.Spec) || shoot.DeletionTimestamp != nil || !ok(w.API.Status) || w.NodesErr != nil || len(w.Nodes) == 0 {
		return nil //nolint:nilerr // Another round looks again.
	}
	servers := &appsv1.Deployment{}
	key := client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: coredns.Name}
	if err := w.access.Get(ctx, key, servers); err != nil {
		return client.IgnoreNotFound(err)
	}
	want := coredns.ServersFor(w.Nodes)
	if ptr.Deref(servers.Spec.Replicas, 1) == want {
		return nil
	}
	before := servers.DeepCopy()
	servers.Spec.Replicas = &want
	if err := w.access.Patch(ctx, servers, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("set the number of DNS servers to %d: %w", want, err)
	}
	ctrl.LoggerFrom(ctx).Info("DNS servers of the shoot scaled", "servers", want, "nodes", len(w.Nodes))
	return nil
}

// correct corrects webhooks that can be in the way (GLET-WEBHOOK-1). One that somebody changes meanwhile is left for the next check.
func (r *Reconciler) correct(ctx context.Context, w *World) error {
	if !ptr.Deref(r.Config.WebhookRemediatorEnabled, false) || w.access == nil || !ok(w.API.Status) || w.Inside.Err != nil {
		return nil //nolint:nilerr // Another round looks again.
	}
	var errs []error
	for i := range w.Inside.Webhooks.Validating {
		c := &w.Inside.Webhooks.Validating[i]
		errs = append(errs, r.patch(ctx, w, c, func() bool { return webhook.CorrectValidating(c) }))
	}
	for i := range w.Inside.Webhooks.Mutating {
		c := &w.Inside.Webhooks.Mutating[i]
		errs = append(errs, r.patch(ctx, w, c, func() bool { return webhook.CorrectMutating(c) }))
	}
	return errors.Join(errs...)
}

func (r *Reconciler) patch(ctx context.Context, w *World, c client.Object, correct func() bool) error {
	before, _ := c.DeepCopyObject().(client.Object)
	if !correct() {
		return nil
	}
	lock := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := w.access.Patch(ctx, c, lock); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("correct the webhooks of %T %q: %w", c, c.GetName(), err)
	}
	ctrl.LoggerFrom(ctx).Info("Webhooks of the shoot corrected", "configuration", c.GetName())
	return nil
}
