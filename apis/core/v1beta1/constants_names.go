// SPDX-License-Identifier: Apache-2.0

package v1beta1

// Namespaces.
const (
	// NamespaceGarden holds the garden's own components and configuration, in the garden and in seeds.
	NamespaceGarden = "garden"
	// NamespaceSeedLease holds the lease of each gardenlet.
	NamespaceSeedLease = "gardener-system-seed-lease"
	// NamespaceShootIssuer holds the documents of published issuers.
	NamespaceShootIssuer = "gardener-system-shoot-issuer"
	// NamespacePublic can be read by every authenticated user.
	NamespacePublic = "gardener-system-public"
	// NamespaceKubernetesDashboard is the namespace of the dashboard in shoots that have it as an add-on.
	NamespaceKubernetesDashboard = "kubernetes-dashboard"
	// NamespaceKubeSystem holds the identity of the cluster.
	NamespaceKubeSystem = "kube-system"
	// NamespaceIstioSystem holds the control plane of the gateways.
	NamespaceIstioSystem = "istio-system"
	// NamespaceIstioIngress holds the gateways.
	NamespaceIstioIngress = "istio-ingress"
	// NamespacePrefixProject starts the names of project namespaces.
	NamespacePrefixProject = "garden-"
	// NamespacePrefixShoot starts the names of shoot namespaces in a seed.
	NamespacePrefixShoot = "shoot--"
	// NamespacePrefixSeed starts the names of the namespaces that seeds have in the garden.
	NamespacePrefixSeed = "seed-"
	// NamespacePrefixExtension starts the names of extension namespaces in a seed.
	NamespacePrefixExtension = "extension-"
)

// Config maps.
const (
	// ConfigMapClusterIdentity names the config map with the identity of a cluster, and its key.
	ConfigMapClusterIdentity = "cluster-identity"
	// ClusterIdentityOrigin is the key in that config map that says who wrote the identity.
	ClusterIdentityOrigin = "origin"
	// ClusterIdentityOriginGarden is the origin of the identity of a garden.
	ClusterIdentityOriginGarden = "gardener-apiserver"
	// ClusterIdentityOriginSeed is the origin of the identity of a seed.
	ClusterIdentityOriginSeed = "seed"
	// ClusterIdentityOriginShoot is the origin of the identity of a shoot.
	ClusterIdentityOriginShoot = "shoot"
	// ConfigMapGardenerInfo names the config map about the garden that everyone may read.
	ConfigMapGardenerInfo = "gardener-info"
	// GardenerInfoKeyAPIServer is the key in that config map with facts about the API server.
	GardenerInfoKeyAPIServer = "gardenerAPIServer"
	// ConfigMapShootInfo names the config map about a shoot inside of it.
	ConfigMapShootInfo = "shoot-info"
)

// Objects that the garden keeps for a shoot in its project namespace: the name of the shoot followed by one of
// these.
const (
	// ProjectSecretSuffixCACluster ends, after a dot, the name of the objects with the cluster CA of a shoot.
	ProjectSecretSuffixCACluster = "ca-cluster"
	// ProjectSecretSuffixCAKubelet ends, after a dot, the name of the config map with the kubelet CA of a shoot.
	ProjectSecretSuffixCAKubelet = "ca-kubelet"
	// ProjectSecretSuffixCAClient ends, after a dot, the name of the internal secret with the client CA of a shoot.
	ProjectSecretSuffixCAClient = "ca-client"
	// ProjectSecretSuffixSSHKeypair ends, after a dot, the name of the secret with the SSH keys of a shoot.
	ProjectSecretSuffixSSHKeypair = "ssh-keypair"
	// ProjectSecretSuffixOldSSHKeypair ends, after a dot, the name of the secret with the former SSH keys of a
	// shoot.
	ProjectSecretSuffixOldSSHKeypair = "ssh-keypair.old"
	// ProjectSecretSuffixMonitoring ends, after a dot, the name of the secret with the credentials for monitoring of
	// a shoot.
	ProjectSecretSuffixMonitoring = "monitoring"
	// ProjectSecretsPerShoot is the number of secrets among these objects.
	ProjectSecretsPerShoot = 4
	// ProjectConfigMapsPerShoot is the number of config maps among these objects.
	ProjectConfigMapsPerShoot = 2
)

// Secrets of a control plane.
const (
	// SecretCACluster is the cluster CA.
	SecretCACluster = "ca"
	// SecretCAClient is the CA of client certificates.
	SecretCAClient = "ca-client"
	// SecretCAETCD is the CA of etcd.
	SecretCAETCD = "ca-etcd"
	// SecretCAETCDPeer is the CA of connections between etcd members.
	SecretCAETCDPeer = "ca-etcd-peer"
	// SecretCAFrontProxy is the CA of the aggregation layer.
	SecretCAFrontProxy = "ca-front-proxy"
	// SecretCAKubelet is the CA of kubelets.
	SecretCAKubelet = "ca-kubelet"
	// SecretCAMetricsServer is the CA of the metrics server.
	SecretCAMetricsServer = "ca-metrics-server"
	// SecretCAVPN is the CA of the tunnel.
	SecretCAVPN = "ca-vpn"
	// SecretCASeed is the CA of components of a seed.
	SecretCASeed = "ca-seed"
	// SecretCloudProvider holds the provider credentials of a shoot.
	SecretCloudProvider = "cloudprovider"
	// SecretSSHKeypair holds the SSH keys of the machines.
	SecretSSHKeypair = "ssh-keypair"
	// SecretServiceAccountKey holds the key that signs service account tokens.
	SecretServiceAccountKey = "service-account-key"
	// SecretObservabilityIngress holds the credentials of operators for monitoring.
	SecretObservabilityIngress = "observability-ingress"
	// SecretObservabilityIngressUsers holds the credentials of users for monitoring.
	SecretObservabilityIngressUsers = "observability-ingress-users"
	// SecretETCDEncryptionKey holds the key that encrypts etcd.
	SecretETCDEncryptionKey = "kube-apiserver-etcd-encryption-key"
	// SecretPrefixETCDEncryptionConfiguration starts the name of the secret with the encryption configuration.
	SecretPrefixETCDEncryptionConfiguration = "kube-apiserver-etcd-encryption-configuration"
	// SecretGardener holds an administrator's kubeconfig with the public address.
	SecretGardener = "gardener"
	// SecretGardenerInternal holds an administrator's kubeconfig with the address inside the seed.
	SecretGardenerInternal = "gardener-internal"
	// SecretGenericTokenKubeconfig holds the kubeconfig that reads its token from a file.
	SecretGenericTokenKubeconfig = "generic-token-kubeconfig"
	// SecretGenericGardenKubeconfig holds the kubeconfig of extensions for the garden.
	SecretGenericGardenKubeconfig = "generic-garden-kubeconfig"
	// SecretPrefixReference starts the names of referenced objects copied to the seed.
	SecretPrefixReference = "ref-"
	// SecretPrefixWorkloadIdentityReference starts the names of Secrets with tokens of referenced workload identities.
	SecretPrefixWorkloadIdentityReference = "workload-identity-ref-"
	// SecretPrefixGeneratedBucket starts the names of generated backup secrets.
	SecretPrefixGeneratedBucket = "generated-bucket-"
	// SecretETCDBackup holds the backup credentials in a shoot namespace.
	SecretETCDBackup = "etcd-backup"
)

// Keys of secrets.
const (
	// DataKeyToken is the key of a token.
	DataKeyToken = "token"
	// DataKeyCertificateBundle is the key of a CA bundle.
	DataKeyCertificateBundle = "bundle.crt"
	// DataKeyCertificateCA is the key of a CA certificate.
	DataKeyCertificateCA = "ca.crt"
	// DataKeyPrivateKeyCA is the key of a CA's private key.
	DataKeyPrivateKeyCA = "ca.key"
	// DataKeyKubeconfig is the key of a kubeconfig.
	DataKeyKubeconfig = "kubeconfig"
	// DataKeyCloudConfig is the key of the user data of a machine.
	DataKeyCloudConfig = "cloud_config"
	// LeasePrefixNodeAgent starts the name of the lease that the agent on a node renews, followed by the node's name.
	LeasePrefixNodeAgent = "gardener-node-agent-"
	// LeasePrefixSelfHostedShoot starts the name of the lease that the gardenlet of a self-hosted shoot renews in the namespace of its
	// Shoot, followed by the name of that.
	LeasePrefixSelfHostedShoot = "self-hosted-shoot-"
	// DataKeyNodeAgentConfig is the key of the configuration that a node reads.
	DataKeyNodeAgentConfig = "osc.yaml"
)

// Components of a control plane.
const (
	// DeploymentKubeAPIServer is the API server.
	DeploymentKubeAPIServer = "kube-apiserver"
	// DeploymentKubeControllerManager is the controller manager.
	DeploymentKubeControllerManager = "kube-controller-manager"
	// DeploymentKubeScheduler is the scheduler.
	DeploymentKubeScheduler = "kube-scheduler"
	// DeploymentResourceManager is the resource manager.
	DeploymentResourceManager = "gardener-resource-manager"
	// DeploymentClusterAutoscaler is the autoscaler of machines.
	DeploymentClusterAutoscaler = "cluster-autoscaler"
	// DeploymentVPAAdmissionController is the part of the autoscaler of pods that sizes new pods.
	DeploymentVPAAdmissionController = "vpa-admission-controller"
	// DeploymentVPARecommender is the part of the autoscaler of pods that says how large pods should be.
	DeploymentVPARecommender = "vpa-recommender"
	// DeploymentVPAUpdater is the part of the autoscaler of pods that resizes or evicts running pods.
	DeploymentVPAUpdater = "vpa-updater"
	// DeploymentMachineControllerManager is the controller of machines.
	DeploymentMachineControllerManager = "machine-controller-manager"
	// DeploymentVPNSeedServer is the seed's side of the tunnel.
	DeploymentVPNSeedServer = "vpn-seed-server"
	// DeploymentGardenlet is the gardenlet.
	DeploymentGardenlet = "gardenlet"
	// ETCDMain is the etcd of all objects but events.
	ETCDMain = "etcd-main"
	// ETCDEvents is the etcd of events.
	ETCDEvents = "etcd-events"
	// ETCDRoleMain is the role of the etcd of all objects but events.
	ETCDRoleMain = "main"
	// ETCDRoleEvents is the role of the etcd of events.
	ETCDRoleEvents = "events"
	// ServiceKubeAPIServer is the Service of the API server.
	ServiceKubeAPIServer = "kube-apiserver"
	// DefaultSchedulerName is the name of the garden's own scheduler.
	DefaultSchedulerName = "default-scheduler"
	// APIServerFQDNPrefix is the host name of an API server below the domain of a shoot.
	APIServerFQDNPrefix = "api"
	// IngressPrefix is the host name of the ingress below the domain of a shoot.
	IngressPrefix = "ingress"
	// DefaultClusterDomain is the domain of Services.
	DefaultClusterDomain = "cluster.local"
)

// Names of advertised addresses.
const (
	// AdvertisedAddressExternal is the address of the API server in the external domain.
	AdvertisedAddressExternal = "external"
	// AdvertisedAddressInternal is the address of the API server in the internal domain.
	AdvertisedAddressInternal = "internal"
	// AdvertisedAddressUnmanaged is the address of the API server's load balancer.
	AdvertisedAddressUnmanaged = "unmanaged"
	// AdvertisedAddressServiceAccountIssuer is the issuer of service account tokens.
	AdvertisedAddressServiceAccountIssuer = "service-account-issuer"
	// AdvertisedAddressWildcardTLSSeedBound is the address that the wildcard certificate of the seed covers.
	AdvertisedAddressWildcardTLSSeedBound = "wildcard-tls-seed-bound"
	// DNSProviderUnmanaged is the type of a DNS provider that leaves the domain alone.
	DNSProviderUnmanaged = "unmanaged"
)

// Further well-known values.
const (
	// ArchitectureAMD64 is the x86 architecture with 64 bits.
	ArchitectureAMD64 = "amd64"
	// ArchitectureARM64 is the ARM architecture with 64 bits.
	ArchitectureARM64 = "arm64"
	// CapabilityArchitecture is the capability that lists processor architectures.
	CapabilityArchitecture = "architecture"
	// VolumeClassStandard is the class of ordinary volumes.
	VolumeClassStandard = "standard"
	// VolumeClassPremium is the class of fast volumes.
	VolumeClassPremium = "premium"
	// CloudProfileReferenceKindCloudProfile is the kind in a reference to a cloud profile of the garden.
	CloudProfileReferenceKindCloudProfile = "CloudProfile"
	// CloudProfileReferenceKindNamespacedCloudProfile is the kind in a reference to a cloud profile of a project.
	CloudProfileReferenceKindNamespacedCloudProfile = "NamespacedCloudProfile"
	// ControllerDeploymentTypeHelm is the type of deployments that hold a Helm chart.
	ControllerDeploymentTypeHelm = "helm"
	// ResourceShoots is the resource in the capacity of a seed that counts shoots.
	ResourceShoots = "shoots"
	// KubernetesDashboardAuthModeToken is the only authentication mode of the dashboard addon.
	KubernetesDashboardAuthModeToken = "token"
)

// Priority classes.
const (
	// PriorityClassGardenSystemCritical is the class of the most important garden components.
	PriorityClassGardenSystemCritical = "gardener-garden-system-critical"
	// PriorityClassSeedSystemCritical is the class of the most important components of a seed.
	PriorityClassSeedSystemCritical = "gardener-system-critical"
	// PriorityClassSeedSystem900 is the second class of components of a seed.
	PriorityClassSeedSystem900 = "gardener-system-900"
	// PriorityClassSeedSystem800 is the third class of components of a seed.
	PriorityClassSeedSystem800 = "gardener-system-800"
	// PriorityClassSeedSystem700 is the fourth class of components of a seed.
	PriorityClassSeedSystem700 = "gardener-system-700"
	// PriorityClassSeedSystem600 is the last class of components of a seed.
	PriorityClassSeedSystem600 = "gardener-system-600"
	// PriorityClassShootControlPlane500 is the first class of components of a shoot's control plane.
	PriorityClassShootControlPlane500 = "gardener-system-500"
	// PriorityClassShootControlPlane400 is the second class of components of a shoot's control plane.
	PriorityClassShootControlPlane400 = "gardener-system-400"
	// PriorityClassShootControlPlane300 is the third class of components of a shoot's control plane.
	PriorityClassShootControlPlane300 = "gardener-system-300"
	// PriorityClassShootControlPlane200 is the fourth class of components of a shoot's control plane.
	PriorityClassShootControlPlane200 = "gardener-system-200"
	// PriorityClassShootControlPlane100 is the last class of components of a shoot's control plane.
	PriorityClassShootControlPlane100 = "gardener-system-100"
)

// Environment of extensions.
const (
	// EnvGardenKubeconfig is the path of an extension's kubeconfig for the garden.
	EnvGardenKubeconfig = "GARDEN_KUBECONFIG"
	// EnvSeedName is the seed that an extension runs in.
	EnvSeedName = "SEED_NAME"
)

// Networks.
const (
	// DefaultPodNetwork is the range of pod addresses of a shoot that names none.
	DefaultPodNetwork = "100.96.0.0/11"
	// DefaultServiceNetwork is the range of Service addresses of a shoot that names none.
	DefaultServiceNetwork = "100.64.0.0/13"
)

// Types of the data of the gardenlet in a ShootState.
const (
	// ShootStateTypeSecret is the type of a Secret of the control plane.
	ShootStateTypeSecret = "secret"
	// ShootStateTypeMachineState is the type, and the name, of the machines.
	ShootStateTypeMachineState = "machine-state"
)
