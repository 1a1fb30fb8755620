// SPDX-License-Identifier: Apache-2.0

// Package reach says who reaches whom in a seed. Where a namespace denies all traffic, a pod has a label for each way that is open to
// it. This package has the names of these labels, the table of the programs with their ways, and the namespaces that deny.
//
// Those who render pods take the labels from here; the policies behind the labels are kept by the gardenlet (general ones) and by the
// resource manager (those for Services).
package reach

import (
	"slices"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

const (
	// AllShoots is the alias of all namespaces of shoots: a pod elsewhere reaches a Service of every shoot through it.
	AllShoots = "all-shoots"
	// Extensions is the alias of all namespaces of extensions.
	Extensions = "extensions"
)

// Names of programs that are not deployments of a control plane.
const (
	Gardenlet        = "gardenlet"
	ResourceManager  = "gardener-resource-manager"
	ProviderLocal    = "gardener-extension-provider-local"
	CloudControllers = "cloud-controller-manager"
	// CloudControllersApart are those of shoots whose machines are in another cluster than the seed.
	CloudControllersApart = "cloud-controller-manager-apart"
	// APIServerWithoutNodes is the API server of a shoot without nodes.
	APIServerWithoutNodes = "kube-apiserver-without-nodes"
)

// VPAWebhook is the Service through which the API server of a shoot reaches what sizes its pods, VPAWebhookPort is the port of its pods.
const (
	VPAWebhook     = "vpa-webhook"
	VPAWebhookPort = 10250
)

// The pods of the resource manager answer the webhooks of shoots at ShootWebhookPort, and those of the seed at SeedWebhookPort, which no
// API server of a shoot reaches.
const (
	ShootWebhookPort = 9449
	SeedWebhookPort  = 9450
)

// ports of the control plane that others connect to.
const (
	apiServerPort = 443
	etcdPort      = 2379
)

// Labels are the labels that open the ways of a program; none for one that talks to nobody.
func Labels(program string) map[string]string {
	labels := map[string]string{}
	for _, key := range ways()[program] {
		labels[key] = gardencorev1beta1.LabelValueAllowed
	}
	return labels
}

// ways are the keys of labels by program. This is the one place that says which component talks to which.
func ways() map[string][]string {
	const (
		dns, seed       = gardencorev1beta1.LabelNetworkPolicyToDNS, gardencorev1beta1.LabelNetworkPolicyToRuntimeAPIServer
		public, private = gardencorev1beta1.LabelNetworkPolicyToPublicNetworks, gardencorev1beta1.LabelNetworkPolicyToPrivateNetworks
	)
	shoot, shoots := APIServer(), APIServers()
	// Public and private networks have webhooks, issuers of tokens and receivers of audit logs. To the networks of the shoot leads the tunnel,
	// whose agents come in.
	everyAPIServer := []string{
		dns, public, private,
		service(gardencorev1beta1.ETCDMain+"-client", etcdPort), service(gardencorev1beta1.ETCDEvents+"-client", etcdPort), webhooksOfExtensions(),
	}
	return map[string][]string{
		gardencorev1beta1.DeploymentKubeAPIServer: append(
			slices.Clone(everyAPIServer),
			service(gardencorev1beta1.NamespaceGarden+"-"+ResourceManager, ShootWebhookPort), service(VPAWebhook, VPAWebhookPort),
		),
		// What our webhooks are about is pods, of which it has none.
		APIServerWithoutNodes:                             everyAPIServer,
		gardencorev1beta1.DeploymentKubeControllerManager: {dns, shoot},
		gardencorev1beta1.DeploymentKubeScheduler:         {dns, shoot},
		gardencorev1beta1.DeploymentClusterAutoscaler:     {dns, seed, shoot},
		// The container of the provider beside it talks to the cloud, which may be anywhere.
		gardencorev1beta1.DeploymentMachineControllerManager: {dns, seed, public, private, shoot},
		gardencorev1beta1.DeploymentVPARecommender:           {dns, shoot},
		gardencorev1beta1.DeploymentVPAUpdater:               {dns, shoot},
		gardencorev1beta1.DeploymentVPAAdmissionController:   {dns, shoot},
		CloudControllers: {dns, seed, shoot},
		// The other cluster may be anywhere.
		CloudControllersApart: {dns, public, private, shoot},
		// The garden may be anywhere.
		Gardenlet: {dns, seed, public, private, shoots},
		// Names are resolved as on the node, by a server that may be outside of the cluster.
		ResourceManager: {
			dns, seed, public, private, shoots,
			service(AllShoots+"-"+gardencorev1beta1.ETCDMain+"-client", etcdPort), service(AllShoots+"-"+gardencorev1beta1.ETCDEvents+"-client", etcdPort),
		},
		// Machines may be in another cluster, which may be anywhere.
		ProviderLocal: {dns, seed, public, private, shoots},
	}
}

// APIServer is the key of the label for the API server of the shoot in whose namespace a pod is.
func APIServer() string {
	return service(gardencorev1beta1.ServiceKubeAPIServer, apiServerPort)
}

// APIServers is the key of the label for the API servers of all shoots.
func APIServers() string {
	return service(AllShoots+"-"+gardencorev1beta1.ServiceKubeAPIServer, apiServerPort)
}

// webhooksOfExtensions is the key of the label for what extensions open to API servers of shoots (EXT-WH-4).
func webhooksOfExtensions() string {
	key, _ := Key(Extensions + "-" + allWebhookTargets)
	return key
}

func service(name string, port int32) string {
	key, _ := Key(ID(name, TCP(port)))
	return key
}
