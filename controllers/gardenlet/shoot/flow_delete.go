// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"
	"slices"
	"time"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	"github.com/terrarium-garden/terrarium/apis/extensions/kind"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/assembly"
	"github.com/terrarium-garden/terrarium/controllers/component/etcd"
	"github.com/terrarium-garden/terrarium/controllers/flow"
)

const (
	cleanTimeout     = 10 * time.Minute
	namespaceTimeout = 10 * time.Minute
)

// deleteGraph is the order in which a shoot is taken apart. What its users made inside of it goes first, while the API server and
// the controllers that clean up still run; the machines follow, and everything that served them.
func (o *operation) deleteGraph(ctx context.Context) (*flow.Graph, error) {
	found, err := o.inspect(ctx)
	if err != nil {
		return nil, err
	}
	return o.deleteTasks(found)
}

func (o *operation) deleteTasks(found remains) (*flow.Graph, error) {
	noClean, noNamespace := !found.cleanable(), !found.namespace
	stores := after("infrastructure-delete-wait", "dns-delete")
	components := slices.Concat(
		o.controlPlane().Restore(assembly.Order{Secrets: "secrets-init", Skip: noClean}),
		o.controlPlane().Delete(assembly.Order{
			After: after("controlplane-delete-wait"), Besides: map[component.Name][]flow.ID{etcd.Main: stores, etcd.Events: stores}, Skip: noNamespace,
		}),
	)
	return flow.Compile("Shoot cluster deletion", append([]flow.Task{
		{ID: "cloudprovider-secret", Skip: noNamespace || query.Workerless(&o.shoot.Spec), Do: o.cloudProviderSecretRefresh},
		{ID: "secrets-init", Skip: noNamespace, Do: o.secretsInit},
		{ID: "gardener-access", After: after("secrets-init", "apiserver-service-wait"), Skip: noClean, Do: o.gardenerAccess},
		{
			ID: "shoot-client", After: after("gardener-access", "apiserver-wait"), Skip: noClean,
			Retry: flow.Retry{Interval: time.Second, Timeout: 2 * time.Minute}, Do: o.shootClientReady,
		},

		{ID: "clean-webhooks", After: after("shoot-client"), Skip: noClean, Timeout: cleanTimeout, Do: o.cleanWebhooks},
		{ID: "clean-extended-apis", After: after("clean-webhooks", "kcm-wait"), Skip: noClean, Timeout: cleanTimeout, Do: o.cleanExtendedAPIs},
		{ID: "clean-kubernetes-resources", After: after("clean-extended-apis"), Skip: noClean, Timeout: cleanTimeout, Do: o.cleanKubernetesResources},

		{ID: "network-delete", After: after("clean-kubernetes-resources"), Skip: noNamespace, Do: o.destroy(kind.Network)},
		{ID: "network-delete-wait", After: after("network-delete"), Skip: noNamespace, Do: o.destroyed(kind.Network)},
		{ID: "runtimes-delete", After: after("clean-kubernetes-resources"), Skip: noNamespace, Do: o.destroy(kind.ContainerRuntime)},
		{ID: "runtimes-delete-wait", After: after("runtimes-delete"), Skip: noNamespace, Do: o.destroyed(kind.ContainerRuntime)},
		{ID: "worker-delete", After: after("clean-kubernetes-resources", "cloudprovider-secret"), Skip: noNamespace, Do: o.destroy(kind.Worker)},
		{ID: "worker-delete-wait", After: after("worker-delete"), Skip: noNamespace, Do: o.destroyed(kind.Worker)},
		{ID: "osc-delete", After: after("worker-delete-wait"), Skip: noNamespace, Do: o.destroy(kind.OperatingSystemConfig)},
		{ID: "osc-delete-wait", After: after("osc-delete"), Skip: noNamespace, Do: o.destroyed(kind.OperatingSystemConfig)},
		{ID: "controlplane-delete", After: after("network-delete-wait", "runtimes-delete-wait", "osc-delete-wait"), Skip: noNamespace, Do: o.destroy(kind.ControlPlane)},
		{ID: "controlplane-delete-wait", After: after("controlplane-delete"), Skip: noNamespace, Do: o.destroyed(kind.ControlPlane)},

		{ID: "garden-credentials-delete", After: after("apiserver-service-delete"), Do: o.gardenCredentialsDelete},
		{ID: "infrastructure-delete", After: after("controlplane-delete-wait"), Skip: noNamespace, Do: o.destroy(kind.Infrastructure)},
		{ID: "infrastructure-delete-wait", After: after("infrastructure-delete"), Skip: noNamespace, Do: o.destroyed(kind.Infrastructure)},
		{ID: "dns-delete", After: after("apiserver-service-delete"), Skip: noNamespace, Do: o.dnsDelete},
		{ID: "namespace-delete", After: after("etcd-main-delete", "etcd-events-delete"), Skip: noNamespace, Do: o.namespaceDelete},
		{ID: "namespace-delete-wait", After: after("namespace-delete", "garden-credentials-delete"), Timeout: namespaceTimeout, Do: o.namespaceDeleteWait},
	}, components...)...)
}
