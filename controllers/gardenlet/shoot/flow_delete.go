// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"
	"time"

	"github.com/terrarium-garden/terrarium/apis/core/query"
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
	return flow.Compile("Shoot cluster deletion",
		flow.Task{ID: "cloudprovider-secret", Skip: noNamespace || query.Workerless(&o.shoot.Spec), Do: o.cloudProviderSecretRefresh},
		flow.Task{ID: "secrets-init", Skip: noNamespace, Do: o.secretsInit},
		flow.Task{ID: "apiserver-service", Skip: noClean, Do: o.apiServerService},
		flow.Task{ID: "apiserver-service-wait", After: after("apiserver-service"), Skip: noClean, Timeout: componentTimeout, Do: o.apiServerServiceWait},
		flow.Task{ID: "etcd", After: after("secrets-init"), Skip: noClean, Do: o.etcdDeploy},
		flow.Task{ID: "etcd-wait", After: after("etcd"), Skip: noClean, Timeout: componentTimeout, Do: o.etcdWait},
		flow.Task{ID: "apiserver", After: after("secrets-init", "apiserver-service-wait", "etcd-wait"), Skip: noClean, Do: o.apiServerDeploy},
		flow.Task{ID: "apiserver-wait", After: after("apiserver"), Skip: noClean, Timeout: componentTimeout, Do: o.apiServerWait},
		flow.Task{ID: "gardener-access", After: after("secrets-init", "apiserver-service-wait"), Skip: noClean, Do: o.gardenerAccess},
		flow.Task{
			ID: "shoot-client", After: after("gardener-access", "apiserver-wait"), Skip: noClean,
			Retry: flow.Retry{Interval: time.Second, Timeout: 2 * time.Minute}, Do: o.shootClientReady,
		},
		flow.Task{ID: "kcm", After: after("secrets-init", "apiserver-wait"), Skip: noClean, Do: o.controllerManagerDeploy},
		flow.Task{ID: "kcm-wait", After: after("kcm"), Skip: noClean, Timeout: componentTimeout, Do: o.controllerManagerWait},

		flow.Task{ID: "clean-webhooks", After: after("shoot-client"), Skip: noClean, Timeout: cleanTimeout, Do: o.cleanWebhooks},
		flow.Task{ID: "clean-extended-apis", After: after("clean-webhooks", "kcm-wait"), Skip: noClean, Timeout: cleanTimeout, Do: o.cleanExtendedAPIs},
		flow.Task{ID: "clean-kubernetes-resources", After: after("clean-extended-apis"), Skip: noClean, Timeout: cleanTimeout, Do: o.cleanKubernetesResources},

		flow.Task{ID: "network-delete", After: after("clean-kubernetes-resources"), Skip: noNamespace, Do: o.networkDelete},
		flow.Task{ID: "network-delete-wait", After: after("network-delete"), Skip: noNamespace, Do: o.networkDeleteWait},
		flow.Task{ID: "worker-delete", After: after("clean-kubernetes-resources", "cloudprovider-secret"), Skip: noNamespace, Do: o.workerDelete},
		flow.Task{ID: "worker-delete-wait", After: after("worker-delete"), Skip: noNamespace, Do: o.workerDeleteWait},
		flow.Task{ID: "osc-delete", After: after("worker-delete-wait"), Skip: noNamespace, Do: o.oscDelete},
		flow.Task{ID: "osc-delete-wait", After: after("osc-delete"), Skip: noNamespace, Do: o.oscDeleteWait},
		flow.Task{ID: "controlplane-delete", After: after("network-delete-wait", "osc-delete-wait"), Skip: noNamespace, Do: o.controlPlaneDelete},
		flow.Task{ID: "controlplane-delete-wait", After: after("controlplane-delete"), Skip: noNamespace, Do: o.controlPlaneDeleteWait},

		flow.Task{ID: "apiserver-delete", After: after("controlplane-delete-wait"), Skip: noNamespace, Timeout: componentTimeout, Do: o.apiServerDelete},
		flow.Task{ID: "garden-credentials-delete", After: after("apiserver-delete"), Do: o.gardenCredentialsDelete},
		flow.Task{ID: "infrastructure-delete", After: after("controlplane-delete-wait"), Skip: noNamespace, Do: o.infrastructureDelete},
		flow.Task{ID: "infrastructure-delete-wait", After: after("infrastructure-delete"), Skip: noNamespace, Do: o.infrastructureDeleteWait},
		flow.Task{ID: "dns-delete", After: after("apiserver-delete"), Skip: noNamespace, Do: o.dnsDelete},
		flow.Task{ID: "etcd-delete", After: after("apiserver-delete", "infrastructure-delete-wait", "dns-delete"), Skip: noNamespace, Timeout: componentTimeout, Do: o.etcdDelete},
		flow.Task{ID: "namespace-delete", After: after("etcd-delete"), Skip: noNamespace, Do: o.namespaceDelete},
		flow.Task{ID: "namespace-delete-wait", After: after("namespace-delete", "garden-credentials-delete"), Timeout: namespaceTimeout, Do: o.namespaceDeleteWait},
	)
}
