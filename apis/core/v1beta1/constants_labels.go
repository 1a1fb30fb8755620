// SPDX-License-Identifier: Apache-2.0

package v1beta1

// Roles and purposes.
const (
	// LabelRole is the role of an object; see the Role constants.
	LabelRole = "gardener.cloud/role"
	// LabelPurpose is the purpose of an object.
	LabelPurpose = "gardener.cloud/purpose"
	// RoleExtension marks namespaces of extensions.
	RoleExtension = "extension"
	// RoleGarden marks the namespace garden.
	RoleGarden = "garden"
	// RoleSeed marks objects of a seed.
	RoleSeed = "seed"
	// RoleIstioSystem marks the namespace of the control plane of an Istio.
	RoleIstioSystem = "istio-system"
	// RoleIstioIngress marks namespaces with gateways of an Istio.
	RoleIstioIngress = "istio-ingress"
	// RoleShoot marks namespaces of shoots in a seed.
	RoleShoot = "shoot"
	// RoleProject marks namespaces of projects.
	RoleProject = "project"
	// RoleControlPlane marks components of a shoot's control plane.
	RoleControlPlane = "controlplane"
	// RoleSystemComponent marks components inside a shoot.
	RoleSystemComponent = "system-component"
	// RoleSeedSystemComponent marks components of the seed itself.
	RoleSeedSystemComponent = "seed-system-component"
	// RoleMonitoring marks monitoring components.
	RoleMonitoring = "monitoring"
	// RoleLogging marks logging components.
	RoleLogging = "logging"
	// RoleObservability marks components for observation.
	RoleObservability = "observability"
	// RoleOptionalAddon marks addons that users asked for.
	RoleOptionalAddon = "optional-addon"
	// RoleOperatingSystemConfig marks secrets with the configuration of machines.
	RoleOperatingSystemConfig = "operating-system-config"
	// RoleKubeconfig marks secrets with a kubeconfig.
	RoleKubeconfig = "kubeconfig"
	// RoleCACluster marks the cluster CA of a shoot in its project.
	RoleCACluster = "ca-cluster"
	// RoleCAKubelet marks the kubelet CA of a shoot in its project.
	RoleCAKubelet = "ca-kubelet"
	// RoleCAClient marks the client CA of a shoot in its project.
	RoleCAClient = "ca-client"
	// RoleSSHKeypair marks the SSH keys of a shoot in its project.
	RoleSSHKeypair = "ssh-keypair"
	// RoleDefaultDomain marks secrets of a default domain.
	RoleDefaultDomain = "default-domain"
	// RoleInternalDomain marks the secret of the internal domain.
	RoleInternalDomain = "internal-domain"
	// RoleGlobalMonitoring marks credentials of monitoring across the garden.
	RoleGlobalMonitoring = "global-monitoring"
	// RoleAlerting marks settings for alerts by mail.
	RoleAlerting = "alerting"
	// RoleControlPlaneCert marks the wildcard certificate of a seed's endpoints.
	RoleControlPlaneCert = "controlplane-cert"
	// RoleExposureClassHandler marks gateways of an exposure class.
	RoleExposureClassHandler = "exposureclass-handler"
	// RoleShootServiceAccountIssuer marks the secret with the host name of published issuers.
	RoleShootServiceAccountIssuer = "shoot-service-account-issuer"
	// RoleHelmPullSecret marks credentials for pulling charts.
	RoleHelmPullSecret = "helm-pull-secret"
	// RoleOCICABundle marks CA bundles of chart registries.
	RoleOCICABundle = "oci-ca-bundle"
	// RoleResourceReference marks secrets and config maps that values of extension charts may refer to.
	RoleResourceReference = "resource-reference"
	// RoleExtensionProject marks cluster roles of custom project roles.
	RoleExtensionProject = "extension-project-role"
	// RoleAdmin marks the cluster role of administrators.
	RoleAdmin = "admin"
	// RoleViewer marks the cluster role of viewers.
	RoleViewer = "viewer"
	// RoleProjectMember marks cluster roles of project members.
	RoleProjectMember = "project-member"
	// RoleProjectViewer marks cluster roles of project viewers.
	RoleProjectViewer = "project-viewer"
	// RoleProjectServiceAccountManager marks cluster roles of managers of service accounts.
	RoleProjectServiceAccountManager = "project-serviceaccountmanager"
)

// Shoots.
const (
	// LabelShootStatus sums up the health of a shoot; see the ShootStatus constants.
	LabelShootStatus = "shoot.gardener.cloud/status"
	// LabelShootPurpose is the purpose of a shoot, copied to its namespace in the seed.
	LabelShootPurpose = "shoot.gardener.cloud/purpose"
	// LabelShootSelfHosted marks shoots whose control plane runs in the shoot itself.
	LabelShootSelfHosted = "shoot.gardener.cloud/self-hosted"
	// LabelShootNoCleanup marks objects inside a shoot that the cleanup leaves alone.
	LabelShootNoCleanup = "shoot.gardener.cloud/no-cleanup"
	// LabelShootProvider is the provider type on the namespace in the seed.
	LabelShootProvider = "shoot.gardener.cloud/provider"
	// LabelPrefixShootProvider starts the label with the provider type of a shoot.
	LabelPrefixShootProvider = "provider.shoot.gardener.cloud/"
	// LabelNetworkingProvider is the type of the network plugin.
	LabelNetworkingProvider = "networking.shoot.gardener.cloud/provider"
	// LabelBackupProvider is the type of the backup provider.
	LabelBackupProvider = "backup.gardener.cloud/provider"
	// LabelShootNamespace relates an object to a shoot by namespace.
	LabelShootNamespace = "shoot.gardener.cloud/namespace"
	// LabelShootName relates an object to a shoot by name.
	LabelShootName = "shoot.gardener.cloud/name"
	// LabelEndpointAdvertise lists an ingress among the advertised addresses of the shoot.
	LabelEndpointAdvertise = "endpoint.shoot.gardener.cloud/advertise"
	// LabelEndpointApplication names the application behind an advertised address.
	LabelEndpointApplication = "endpoint.shoot.gardener.cloud/application"
	// LabelMaintenanceRestart marks pods that are restarted during maintenance.
	LabelMaintenanceRestart = "maintenance.gardener.cloud/restart"
	// LabelVPAEvictionRequirements says who writes the eviction requirements of a vertical pod autoscaler.
	LabelVPAEvictionRequirements = "autoscaling.gardener.cloud/eviction-requirements"
	// LabelValueVPAEvictionRequirementsManaged is its value where the gardenlet does.
	LabelValueVPAEvictionRequirementsManaged = "managed-by-controller"
	// LabelVPASkipInPlaceUpdates keeps the update mode of a vertical pod autoscaler as it is, whatever its value.
	LabelVPASkipInPlaceUpdates = "vpa-in-place-updates.resources.gardener.cloud/skip"
	// LabelCareConditionType is the condition that a managed resource counts for.
	LabelCareConditionType = "care.gardener.cloud/condition-type"
	// LabelUpdateRestriction marks objects that only the gardenlet may change.
	LabelUpdateRestriction = "gardener.cloud/update-restriction"
	// LabelRemediationExclude marks webhooks that are not repaired automatically.
	LabelRemediationExclude = "remediation.webhook.shoot.gardener.cloud/exclude"
	// ShootStatusHealthy is the value of LabelShootStatus when all conditions are good.
	ShootStatusHealthy = "healthy"
	// ShootStatusProgressing is the value of LabelShootStatus when a condition became bad a moment ago.
	ShootStatusProgressing = "progressing"
	// ShootStatusUnhealthy is the value of LabelShootStatus when a condition is bad.
	ShootStatusUnhealthy = "unhealthy"
	// ShootStatusUnknown is the value of LabelShootStatus when a condition cannot be determined.
	ShootStatusUnknown = "unknown"
)

// Seeds.
const (
	// LabelSeedProvider is the provider type of a seed.
	LabelSeedProvider = "seed.gardener.cloud/provider"
	// LabelSeedRegion is the region of a seed.
	LabelSeedRegion = "seed.gardener.cloud/region"
	// LabelSeedNetwork is private when the garden cannot reach the seed.
	LabelSeedNetwork = "seed.gardener.cloud/network"
	// LabelSeedSelfHostedShoot marks seeds that are shoots with their own control plane.
	LabelSeedSelfHostedShoot = "seed.gardener.cloud/self-hosted-shoot-cluster"
	// LabelPrefixSeedName starts the label, with value "true", of objects that belong to the seed named by the rest.
	LabelPrefixSeedName = "name.seed.gardener.cloud/"
	// TaintSeedProtected is the taint of seeds that take only shoots which tolerate it.
	TaintSeedProtected = "seed.gardener.cloud/protected"
	// SeedNetworkPrivate is the value of LabelSeedNetwork for seeds that the garden cannot reach.
	SeedNetworkPrivate = "private"
)

// Projects and references.
const (
	// LabelProjectName is the name of the project on its namespace.
	LabelProjectName = "project.gardener.cloud/name"
	// LabelReferenceSecretBinding marks secrets in use by a secret binding.
	LabelReferenceSecretBinding = "reference.gardener.cloud/secretbinding"
	// LabelReferenceCredentialsBinding marks credentials in use by a credentials binding.
	LabelReferenceCredentialsBinding = "reference.gardener.cloud/credentialsbinding"
	// LabelControllerRegistrationName names the registration on the namespace of an extension.
	LabelControllerRegistrationName = "controllerregistration.core.gardener.cloud/name"
	// LabelAggregateToProjectMember adds the rules of a cluster role to project members.
	LabelAggregateToProjectMember = "rbac.gardener.cloud/aggregate-to-project-member"
	// LabelAggregateToProjectViewer adds the rules of a cluster role to project viewers.
	LabelAggregateToProjectViewer = "rbac.gardener.cloud/aggregate-to-project-viewer"
	// LabelAggregateToProjectServiceAccountManager adds the rules of a cluster role to managers of service accounts.
	LabelAggregateToProjectServiceAccountManager = "rbac.gardener.cloud/aggregate-to-project-serviceaccountmanager"
	// LabelAggregateToExtensionRole adds the rules of a cluster role to the custom project role in the value.
	LabelAggregateToExtensionRole = "rbac.gardener.cloud/aggregate-to-extension-role"
	// LabelCustomExtensionsPermissions marks cluster roles with further permissions for extensions.
	LabelCustomExtensionsPermissions = "authorization.gardener.cloud/custom-extensions-permissions"
)

// Extensions.
const (
	// LabelPrefixExtensions starts labels that are specific to an extension.
	LabelPrefixExtensions = "extensions.gardener.cloud/"
	// LabelPrefixExtensionType starts the label that names the type of an extension in use.
	LabelPrefixExtensionType = "extensions.extensions.gardener.cloud/"
	// LabelPrefixProviderExtension starts the label that names a provider in use.
	LabelPrefixProviderExtension = "provider.extensions.gardener.cloud/"
	// LabelPrefixDNSRecordExtension starts the label that names a DNS type in use.
	LabelPrefixDNSRecordExtension = "dnsrecord.extensions.gardener.cloud/"
	// LabelPrefixNetworkingExtension starts the label that names a network plugin in use.
	LabelPrefixNetworkingExtension = "networking.extensions.gardener.cloud/"
	// LabelPrefixOperatingSystemConfigExtension starts the label that names an operating system in use.
	LabelPrefixOperatingSystemConfigExtension = "operatingsystemconfig.extensions.gardener.cloud/"
	// LabelPrefixContainerRuntimeExtension starts the label that names a container runtime in use.
	LabelPrefixContainerRuntimeExtension = "containerruntime.extensions.gardener.cloud/"
	// LabelMutatedByControlPlaneWebhook marks objects that a provider's webhook changes.
	LabelMutatedByControlPlaneWebhook = "provider.extensions.gardener.cloud/mutated-by-controlplane-webhook"
	// LabelInjectGardenKubeconfig asks for a kubeconfig of the garden in the pods of a workload.
	LabelInjectGardenKubeconfig = "extensions.gardener.cloud/inject-garden-kubeconfig"
	// LabelExposureClassHandlerName is the handler of an exposure class.
	LabelExposureClassHandlerName = "handler.exposureclass.gardener.cloud/name"
	// LabelDeletionProtected marks custom resource definitions whose deletion must be confirmed.
	LabelDeletionProtected = "gardener.cloud/deletion-protected"
)

// Nodes and workers.
const (
	// LabelWorkerName names the Worker object of a machine deployment.
	LabelWorkerName = "worker.gardener.cloud/name"
	// LabelWorkerPool is the worker pool of a node.
	LabelWorkerPool = "worker.gardener.cloud/pool"
	// LabelWorkerPoolLegacy is the older key for the worker pool of a node.
	LabelWorkerPoolLegacy = "worker.garden.sapcloud.io/group"
	// LabelWorkerKubernetesVersion is the kubelet version of a pool.
	LabelWorkerKubernetesVersion = "worker.gardener.cloud/kubernetes-version"
	// LabelWorkerSystemComponents says whether a pool takes system components.
	LabelWorkerSystemComponents = "worker.gardener.cloud/system-components"
	// LabelWorkerNodeAgentSecretName names the secret that the node reads its configuration from.
	LabelWorkerNodeAgentSecretName = "worker.gardener.cloud/gardener-node-agent-secret-name"
	// LabelWorkerCRIName is the container runtime of a pool.
	LabelWorkerCRIName = "worker.gardener.cloud/cri-name"
	// LabelFormatContainerRuntime is the format of the label for a further container runtime of a pool.
	LabelFormatContainerRuntime = "containerruntime.worker.gardener.cloud/%s"
	// LabelNodeRoleControlPlane marks nodes of a control plane.
	LabelNodeRoleControlPlane = "node-role.kubernetes.io/control-plane"
	// LabelNodeCriticalComponent marks pods that must be ready before a node takes workload.
	LabelNodeCriticalComponent = "node.gardener.cloud/critical-component"
	// TaintNodeCriticalComponentsNotReady is the taint of nodes until those pods are ready.
	TaintNodeCriticalComponentsNotReady = "node.gardener.cloud/critical-components-not-ready"
	// LabelNodeLocalDNSEnabled marks nodes that run a DNS cache.
	LabelNodeLocalDNSEnabled = "networking.gardener.cloud/node-local-dns-enabled"
)

// Network policies.
const (
	// LabelNetworkPolicyToBlockedCIDRs lets a pod reach blocked networks.
	LabelNetworkPolicyToBlockedCIDRs = "networking.gardener.cloud/to-blocked-cidrs"
	// LabelNetworkPolicyToDNS lets a pod reach the cluster's DNS.
	LabelNetworkPolicyToDNS = "networking.gardener.cloud/to-dns"
	// LabelNetworkPolicyToPrivateNetworks lets a pod reach private networks.
	LabelNetworkPolicyToPrivateNetworks = "networking.gardener.cloud/to-private-networks"
	// LabelNetworkPolicyToPublicNetworks lets a pod reach the internet.
	LabelNetworkPolicyToPublicNetworks = "networking.gardener.cloud/to-public-networks"
	// LabelNetworkPolicyToRuntimeAPIServer lets a pod reach the API server of its own cluster.
	LabelNetworkPolicyToRuntimeAPIServer = "networking.gardener.cloud/to-runtime-apiserver"
	// LabelNetworkPolicyToShootNetworks lets a pod of a control plane reach the networks of its shoot.
	LabelNetworkPolicyToShootNetworks = "networking.gardener.cloud/to-shoot-networks"
	// LabelNetworkPolicyFromSeed lets the seed reach a pod in a shoot.
	LabelNetworkPolicyFromSeed = "networking.gardener.cloud/from-seed"
	// LabelNetworkPolicyToAPIServer lets a pod in a shoot reach the API server.
	LabelNetworkPolicyToAPIServer = "networking.gardener.cloud/to-apiserver"
	// LabelNetworkPolicyToKubelet lets a pod in a shoot reach kubelets.
	LabelNetworkPolicyToKubelet = "networking.gardener.cloud/to-kubelet"
	// LabelNetworkPolicyAccessTargetAPIServer marks namespaces that talk to the API server of another cluster.
	LabelNetworkPolicyAccessTargetAPIServer = "networking.gardener.cloud/access-target-apiserver"
	// LabelValueAllowed is the value of the network policy labels.
	LabelValueAllowed = "allowed"
)

// Applications and roles of pods.
const (
	// LabelApp names the application of a pod.
	LabelApp = "app"
	// LabelComponentRole names the part of an application.
	LabelComponentRole = "role"
	// LabelAppKubernetes is the value of LabelApp for Kubernetes components.
	LabelAppKubernetes = "kubernetes"
	// LabelAppGardener is the value of LabelApp for components of the garden.
	LabelAppGardener = "gardener"
	// LabelRoleAPIServer is the value of LabelComponentRole for API servers.
	LabelRoleAPIServer = "apiserver"
	// LabelRoleControllerManager is the value of LabelComponentRole for controller managers.
	LabelRoleControllerManager = "controller-manager"
	// LabelRoleScheduler is the value of LabelComponentRole for schedulers.
	LabelRoleScheduler = "scheduler"
	// LabelRoleProxy is the value of LabelComponentRole for kube-proxy.
	LabelRoleProxy = "proxy"
	// LabelDiscoveryPublic marks objects that are published to everyone.
	LabelDiscoveryPublic = "discovery.gardener.cloud/public"
	// DiscoveryPublicShootCA is the value of LabelDiscoveryPublic for CAs of shoots.
	DiscoveryPublicShootCA = "shoot-ca"
	// LabelSchedulingPurpose is region-config on config maps of region distances.
	LabelSchedulingPurpose = "scheduling.gardener.cloud/purpose"
	// SchedulingPurposeRegionConfig is the value of LabelSchedulingPurpose for region distances.
	SchedulingPurposeRegionConfig = "region-config"
	// LabelManagedBy says who applies an object.
	LabelManagedBy = "resources.gardener.cloud/managed-by"
	// LabelOrigin says who wrote a managed resource.
	LabelOrigin = "origin"
)

// Generated secrets.
const (
	// LabelSecretName is the logical name of a generated secret.
	LabelSecretName = "name"
	// LabelSecretManagedBy is secrets-manager on generated secrets.
	LabelSecretManagedBy = "managed-by"
	// LabelSecretManagedByValue is the value of LabelSecretManagedBy.
	LabelSecretManagedByValue = "secrets-manager"
	// LabelSecretManagerIdentity says which component generated the secret.
	LabelSecretManagerIdentity = "manager-identity"
	// LabelSecretUseDataForName on a secret offers its data for the generated secret of that logical name.
	LabelSecretUseDataForName = "secrets-manager-use-data-for-name"
	// LabelSecretChecksumConfig is the checksum of the configuration of the secret.
	LabelSecretChecksumConfig = "checksum-of-config"
	// LabelSecretChecksumSigningCA is the checksum of the CA that signed the certificate.
	LabelSecretChecksumSigningCA = "checksum-of-signing-ca"
	// LabelSecretBundleFor names the CA that a bundle belongs to.
	LabelSecretBundleFor = "bundle-for"
	// LabelSecretPersist marks secrets that move with the control plane.
	LabelSecretPersist = "persist"
	// LabelSecretLastRotationInitiationTime is the Unix time of the last start of a rotation.
	LabelSecretLastRotationInitiationTime = "last-rotation-initiation-time"
	// LabelSecretIssuedAtTime is the Unix time of creation.
	LabelSecretIssuedAtTime = "issued-at-time"
	// LabelSecretValidUntilTime is the Unix time of expiry.
	LabelSecretValidUntilTime = "valid-until-time"
	// LabelSecretRenewAfterPercentage is the share of the validity after which the secret is renewed.
	LabelSecretRenewAfterPercentage = "renew-after-validity-percentage"
)
