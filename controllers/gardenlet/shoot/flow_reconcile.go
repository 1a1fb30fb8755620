// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"
	"time"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	"github.com/terrarium-garden/terrarium/controllers/flow"
)

// componentTimeout is how long a component of the control plane may take to become ready.
const componentTimeout = 5 * time.Minute

// reconcileGraph is the order in which a shoot is made. The ids are shown to users and kept with errors.
func (o *operation) reconcileGraph(context.Context) (*flow.Graph, error) {
	noWorkers := query.Workerless(&o.shoot.Spec)
	return flow.Compile("Shoot cluster reconciliation",
		flow.Task{ID: "namespace", Do: o.namespaceDeploy},
		flow.Task{ID: "cluster-identity-status", After: after("namespace"), Do: o.clusterIdentityStatus},
		flow.Task{ID: "cloudprovider-secret", After: after("namespace"), Skip: noWorkers, Do: o.cloudProviderSecret},
		flow.Task{ID: "secrets-init", After: after("namespace"), Do: o.secretsInit},
		flow.Task{ID: "garden-credentials", After: after("secrets-init"), Do: o.gardenCredentials},

		flow.Task{ID: "apiserver-service", After: after("namespace"), Do: o.apiServerService},
		flow.Task{ID: "apiserver-service-wait", After: after("apiserver-service"), Timeout: componentTimeout, Do: o.apiServerServiceWait},
		flow.Task{ID: "advertised-addresses", After: after("apiserver-service-wait", "cluster-identity-status"), Do: o.advertisedAddresses},
		flow.Task{ID: "dns-internal", After: after("apiserver-service-wait"), Skip: o.hosts.Internal == "", Do: o.dnsInternal},
		flow.Task{ID: "dns-external", After: after("apiserver-service-wait"), Skip: o.hosts.External == "", Do: o.dnsExternal},

		flow.Task{ID: "infrastructure", After: after("cloudprovider-secret", "secrets-init"), Skip: noWorkers, Do: o.infrastructureDeploy},
		flow.Task{ID: "infrastructure-wait", After: after("infrastructure"), Skip: noWorkers, Do: o.infrastructureWait},

		flow.Task{ID: "etcd", After: after("secrets-init"), Do: o.etcdDeploy},
		flow.Task{ID: "etcd-wait", After: after("etcd"), Timeout: componentTimeout, Do: o.etcdWait},
		flow.Task{ID: "apiserver", After: after("secrets-init", "apiserver-service-wait", "etcd-wait"), Do: o.apiServerDeploy},
		flow.Task{ID: "apiserver-wait", After: after("apiserver"), Timeout: componentTimeout, Do: o.apiServerWait},
		flow.Task{ID: "encryption-status", After: after("apiserver-wait"), Do: o.encryptionStatus},

		flow.Task{ID: "gardener-access", After: after("secrets-init", "apiserver-service-wait"), Do: o.gardenerAccess},
		flow.Task{ID: "shoot-client", After: after("gardener-access", "apiserver-wait"), Retry: flow.Retry{Interval: time.Second, Timeout: 2 * time.Minute}, Do: o.shootClientReady},

		flow.Task{ID: "controlplane", After: after("gardener-access", "infrastructure-wait", "apiserver-wait"), Skip: noWorkers, Do: o.controlPlaneDeploy},
		flow.Task{ID: "controlplane-wait", After: after("controlplane"), Skip: noWorkers, Do: o.controlPlaneWait},
		flow.Task{ID: "kcm", After: after("secrets-init", "apiserver-wait"), Do: o.controllerManagerDeploy},
		flow.Task{ID: "kcm-wait", After: after("kcm"), Timeout: componentTimeout, Do: o.controllerManagerWait},
		flow.Task{ID: "scheduler", After: after("secrets-init", "apiserver-wait"), Skip: noWorkers, Do: o.schedulerDeploy},
		flow.Task{ID: "scheduler-wait", After: after("scheduler"), Skip: noWorkers, Timeout: componentTimeout, Do: o.schedulerWait},

		flow.Task{ID: "system-resources", After: after("shoot-client", "cluster-identity-status"), Do: o.systemResources},
		flow.Task{ID: "osc", After: after("secrets-init", "apiserver-service-wait", "infrastructure-wait"), Skip: noWorkers, Do: o.oscDeploy},
		flow.Task{ID: "osc-wait", After: after("osc"), Skip: noWorkers, Do: o.oscWait},
		flow.Task{ID: "network", After: after("infrastructure-wait", "system-resources"), Skip: noWorkers, Do: o.networkDeploy},
		flow.Task{ID: "network-wait", After: after("network"), Skip: noWorkers, Do: o.networkWait},
		flow.Task{ID: "kube-proxy", After: after("system-resources"), Skip: noWorkers, Do: o.kubeProxyDeploy},

		flow.Task{ID: "worker", After: after("controlplane", "osc-wait", "system-resources", "dns-internal"), Skip: noWorkers, Do: o.workerDeploy},
		flow.Task{ID: "worker-wait", After: after("worker"), Skip: noWorkers, Do: o.workerWait},
		flow.Task{ID: "osc-stale-delete", After: after("worker-wait"), Skip: noWorkers, Do: o.oscDeleteStale},
		flow.Task{
			ID: "nodes-ready", After: after("worker-wait", "network-wait", "kube-proxy", "kcm-wait", "scheduler-wait", "controlplane-wait"), Skip: noWorkers,
			Timeout: componentTimeout, Do: o.nodesReady,
		},
	)
}

func after(ids ...string) []string {
	return ids
}
