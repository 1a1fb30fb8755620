// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"
	"slices"
	"time"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	"github.com/terrarium-garden/terrarium/controllers/component/assembly"
	"github.com/terrarium-garden/terrarium/controllers/flow"
)

// nodesTimeout is how long nodes may take to become ready once they are there.
const nodesTimeout = 5 * time.Minute

// reconcileGraph is the order in which a shoot is made. The ids are shown to users and kept with errors.
func (o *operation) reconcileGraph(context.Context) (*flow.Graph, error) {
	noWorkers := query.Workerless(&o.shoot.Spec)
	components := slices.Concat(
		o.controlPlane().Deploy(assembly.Order{After: after("namespace"), Secrets: "secrets-init"}),
		o.system().Deploy(assembly.Order{After: after("shoot-client")}),
	)
	return flow.Compile("Shoot cluster reconciliation", append([]flow.Task{
		{ID: "namespace", Do: o.namespaceDeploy},
		{ID: "cluster-identity-status", After: after("namespace"), Do: o.clusterIdentityStatus},
		{ID: "cloudprovider-secret", After: after("namespace"), Skip: noWorkers, Do: o.cloudProviderSecret},
		{ID: "secrets-init", After: after("namespace"), Do: o.secretsInit},
		{ID: "garden-credentials", After: after("secrets-init"), Do: o.gardenCredentials},

		{ID: "advertised-addresses", After: after("apiserver-service-wait", "cluster-identity-status"), Do: o.advertisedAddresses},
		{ID: "dns-internal", After: after("apiserver-service-wait"), Skip: o.hosts.Internal == "", Do: o.dnsInternal},
		{ID: "dns-external", After: after("apiserver-service-wait"), Skip: o.hosts.External == "", Do: o.dnsExternal},

		{ID: "infrastructure", After: after("cloudprovider-secret", "secrets-init"), Skip: noWorkers, Do: o.infrastructureDeploy},
		{ID: "infrastructure-wait", After: after("infrastructure"), Skip: noWorkers, Do: o.infrastructureWait},

		{ID: "encryption-status", After: after("apiserver-wait"), Do: o.encryptionStatus},

		{ID: "gardener-access", After: after("secrets-init", "apiserver-service-wait"), Do: o.gardenerAccess},
		{ID: "shoot-client", After: after("gardener-access", "apiserver-wait"), Retry: flow.Retry{Interval: time.Second, Timeout: 2 * time.Minute}, Do: o.shootClientReady},

		{ID: "controlplane", After: after("gardener-access", "infrastructure-wait", "apiserver-wait"), Skip: noWorkers, Do: o.controlPlaneDeploy},
		{ID: "controlplane-wait", After: after("controlplane"), Skip: noWorkers, Do: o.controlPlaneWait},

		{ID: "osc", After: after("secrets-init", "apiserver-service-wait", "infrastructure-wait"), Skip: noWorkers, Do: o.oscDeploy},
		{ID: "osc-wait", After: after("osc"), Skip: noWorkers, Do: o.oscWait},
		{ID: "network", After: after("infrastructure-wait", "system-resources"), Skip: noWorkers, Do: o.networkDeploy},
		{ID: "network-wait", After: after("network"), Skip: noWorkers, Do: o.networkWait},
		{ID: "runtimes", After: after("system-resources"), Skip: noWorkers, Do: o.runtimesDeploy},
		{ID: "runtimes-wait", After: after("runtimes"), Skip: noWorkers, Do: o.runtimesWait},

		{ID: "worker", After: after("controlplane", "osc-wait", "system-resources", "dns-internal"), Skip: noWorkers, Do: o.workerDeploy},
		{ID: "worker-wait", After: after("worker"), Skip: noWorkers, Do: o.workerWait},
		{ID: "runtimes-stale-delete", After: after("worker-wait"), Skip: noWorkers, Do: o.runtimesDeleteStale},
		{ID: "osc-stale-delete", After: after("worker-wait"), Skip: noWorkers, Do: o.oscDeleteStale},
		{
			ID: "nodes-ready", After: after("worker-wait", "network-wait", "kube-proxy", "kcm-wait", "scheduler-wait", "controlplane-wait"), Skip: noWorkers,
			Timeout: nodesTimeout, Do: o.nodesReady,
		},
	}, components...)...)
}

func after(ids ...flow.ID) []flow.ID {
	return ids
}
