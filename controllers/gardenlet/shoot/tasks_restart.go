// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/flow"
)

// dnsServers is the Deployment of the DNS servers of a shoot.
const dnsServers = "coredns"

// restarts are the parts of a shoot that its maintenance restarts, so that none runs with what it learned long ago.
type restarts struct {
	ground

	todo   todo
	values values
}

func (r restarts) fragment() fragment {
	none := func(task string) bool { return !slices.Contains(tasks(r.todo.shoot), task) }
	return fragment{deploy: []flow.Task{
		{
			ID: "restart-control-plane-pods", Title: "Restarting pods of the control plane", After: after("kcm-wait", "controlplane-wait"),
			Skip: none(gardencorev1beta1.ShootTaskRestartControlPlanePods) || r.facts.Power != facts.Awake, Do: r.controlPlane,
		},
		{
			ID: "restart-core-addons", Title: "Restarting the DNS servers", Reads: []flow.Slot{r.values.shootClient}, After: after("coredns"),

			Skip: none(gardencorev1beta1.ShootTaskRestartCoreAddons) || r.facts.Power != facts.Awake, Do: r.coreAddons,
		},
	}}
}

// controlPlane deletes the pods that ask to be restarted. Their Deployments make new ones.
func (r restarts) controlPlane(ctx context.Context) error {
	err := r.seed.DeleteAllOf(ctx, &corev1.Pod{}, client.InNamespace(r.facts.Namespace), client.MatchingLabels{gardencorev1beta1.LabelMaintenanceRestart: "true"})
	if err != nil {
		return fmt.Errorf("delete pods that are to be restarted: %w", err)
	}
	return r.todo.finish(ctx, gardencorev1beta1.ShootTaskRestartControlPlanePods)
}

// coreAddons replaces the DNS servers one after the other. A shoot without nodes has none.
func (r restarts) coreAddons(ctx context.Context) error {
	if r.facts.Workers() {
		deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: dnsServers}}
		shoot := r.values.shootClient.Get(ctx)
		if err := shoot.Get(ctx, client.ObjectKeyFromObject(deployment), deployment); err != nil {
			return fmt.Errorf("get deployment %q: %w", dnsServers, err)
		}
		before := deployment.DeepCopy()
		metav1.SetMetaDataAnnotation(&deployment.Spec.Template.ObjectMeta, gardencorev1beta1.AnnotationRestartedAt, r.clock.Now().UTC().Format(time.RFC3339))
		if err := shoot.Patch(ctx, deployment, client.StrategicMergeFrom(before)); err != nil {
			return fmt.Errorf("restart deployment %q: %w", dnsServers, err)
		}
	}
	return r.todo.finish(ctx, gardencorev1beta1.ShootTaskRestartCoreAddons)
}
