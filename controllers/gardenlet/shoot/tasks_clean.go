// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/flow"
)

const cleanTimeout = 10 * time.Minute

// cleaning removes what users have made inside of a shoot that is deleted.
type cleaning struct {
	shoot       *gardencorev1beta1.Shoot
	clock       clock.Clock
	shootClient *flow.Value[client.Client]
}

func (c cleaning) fragment(found remains) fragment {
	task := func(id flow.ID, title string, do func(context.Context) error, after ...flow.ID) flow.Task {
		return flow.Task{
			ID: id, Title: title, After: after, Reads: []flow.Slot{c.shootClient}, Timeout: cleanTimeout, Skip: !found.cleanable(), Do: do,
		}
	}
	return fragment{destroy: []flow.Task{
		task("clean-webhooks", "Deleting the webhooks of the cluster", c.webhooks),
		task("clean-extended-apis", "Deleting custom resources and API services of the cluster", c.extendedAPIs, "clean-webhooks", "kcm-wait"),
		task("clean-kubernetes-resources", "Deleting the other resources of the cluster", c.kubernetesResources, "clean-extended-apis"),
	}}
}

func (c cleaning) clean(ctx context.Context, group CleanGroup) error {
	return Cleaner{Client: c.shootClient.Get(ctx), Clock: c.clock}.Clean(ctx, group)
}

func (c cleaning) webhooks(ctx context.Context) error {
	period := grace(c.shoot, gardencorev1beta1.AnnotationShootCleanupWebhooksGrace, 5*time.Minute)
	v1 := schema.GroupVersion{Group: "admissionregistration.k8s.io", Version: "v1"}
	return c.clean(ctx, CleanGroup{
		Kinds:       []schema.GroupVersionKind{v1.WithKind("ValidatingWebhookConfiguration"), v1.WithKind("MutatingWebhookConfiguration")},
		DeleteGrace: min(period, 5*time.Minute), FinalizeAfter: period,
	})
}

func (c cleaning) extendedAPIs(ctx context.Context) error {
	if _, skip := c.shoot.Annotations[gardencorev1beta1.AnnotationShootSkipCleanup]; skip {
		return nil
	}
	period := grace(c.shoot, gardencorev1beta1.AnnotationShootCleanupExtendedAPIsGrace, time.Hour)
	return c.clean(ctx, CleanGroup{
		Kinds: []schema.GroupVersionKind{
			{Group: "apiregistration.k8s.io", Version: "v1", Kind: "APIService"},
			{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"},
		},
		DeleteGrace: min(period/10, 5*time.Minute), FinalizeAfter: period,
	})
}

func (c cleaning) kubernetesResources(ctx context.Context) error {
	period := grace(c.shoot, gardencorev1beta1.AnnotationShootCleanupKubernetesResourcesGrace, 5*time.Minute)
	core, apps, batch := schema.GroupVersion{Version: "v1"}, schema.GroupVersion{Group: "apps", Version: "v1"}, schema.GroupVersion{Group: "batch", Version: "v1"}
	kinds := []schema.GroupVersionKind{core.WithKind("Service"), core.WithKind("PersistentVolumeClaim")}
	if _, skip := c.shoot.Annotations[gardencorev1beta1.AnnotationShootSkipCleanup]; !skip {
		kinds = append(kinds,
			batch.WithKind("CronJob"), apps.WithKind("DaemonSet"), apps.WithKind("Deployment"),
			schema.GroupVersionKind{Group: "networking.k8s.io", Version: "v1", Kind: "Ingress"},
			batch.WithKind("Job"), core.WithKind("Pod"), apps.WithKind("ReplicaSet"), core.WithKind("ReplicationController"), apps.WithKind("StatefulSet"),
		)
	}
	return c.clean(ctx, CleanGroup{Kinds: kinds, DeleteGrace: min(period, 5*time.Minute), FinalizeAfter: period})
}
