// SPDX-License-Identifier: Apache-2.0

package v1beta1

// Finalizers.
const (
	// FinalizerGardener is the main finalizer of garden objects.
	FinalizerGardener = "gardener"
	// FinalizerExternalGardener holds secrets and other foreign objects that are in use.
	FinalizerExternalGardener = "gardener.cloud/gardener"
	// FinalizerSecretBinding holds secrets in use by a secret binding.
	FinalizerSecretBinding = "gardener.cloud/secretbinding"
	// FinalizerCredentialsBinding holds credentials in use by a credentials binding.
	FinalizerCredentialsBinding = "gardener.cloud/credentialsbinding"
	// FinalizerReferenceProtection holds objects that shoots or seeds refer to, and the objects that refer to them.
	FinalizerReferenceProtection = "gardener.cloud/reference-protection"
	// FinalizerBackupBucket holds credentials in use by a backup bucket.
	FinalizerBackupBucket = "core.gardener.cloud/backupbucket"
	// FinalizerControllerDeployment holds controller deployments in use.
	FinalizerControllerDeployment = "core.gardener.cloud/controllerdeployment"
	// FinalizerControllerRegistration holds registrations in use, and seeds with installations.
	FinalizerControllerRegistration = "core.gardener.cloud/controllerregistration"
	// FinalizerControllerInstallation holds installations until the extension is gone from the seed.
	FinalizerControllerInstallation = "core.gardener.cloud/controllerinstallation"
	// FinalizerPlant holds plants, and the secrets with their kubeconfigs.
	FinalizerPlant = "core.gardener.cloud/plant"
	// FinalizerShootState holds shoot states from the start of a migration until the restoration succeeded.
	FinalizerShootState = "core.gardener.cloud/shootstate"
	// FinalizerExtensionBackupBucket is set by controllers of backup buckets.
	FinalizerExtensionBackupBucket = "extensions.gardener.cloud/backupbucket"
	// FinalizerExtensionBackupEntry is set by controllers of backup entries.
	FinalizerExtensionBackupEntry = "extensions.gardener.cloud/backupentry"
	// FinalizerExtensionBastion is set by controllers of bastions.
	FinalizerExtensionBastion = "extensions.gardener.cloud/bastion"
	// FinalizerExtensionContainerRuntime is set by controllers of container runtimes.
	FinalizerExtensionContainerRuntime = "extensions.gardener.cloud/containerruntime"
	// FinalizerExtensionControlPlane is set by controllers of control planes.
	FinalizerExtensionControlPlane = "extensions.gardener.cloud/controlplane"
	// FinalizerExtensionDNSRecord is set by controllers of DNS records.
	FinalizerExtensionDNSRecord = "extensions.gardener.cloud/dnsrecord"
	// FinalizerExtensionInfrastructure is set by controllers of infrastructures.
	FinalizerExtensionInfrastructure = "extensions.gardener.cloud/infrastructure"
	// FinalizerExtensionNetwork is set by controllers of networks.
	FinalizerExtensionNetwork = "extensions.gardener.cloud/network"
	// FinalizerExtensionOperatingSystemConfig is set by controllers of operating system configs; the plural is part
	// of the contract.
	FinalizerExtensionOperatingSystemConfig = "extensions.gardener.cloud/operatingsystemconfigs"
	// FinalizerExtensionSelfHostedShootExposure is set by controllers of exposures.
	FinalizerExtensionSelfHostedShootExposure = "extensions.gardener.cloud/selfhostedshootexposure"
	// FinalizerExtensionWorker is set by controllers of workers.
	FinalizerExtensionWorker = "extensions.gardener.cloud/worker"
	// FinalizerPrefixExtension starts the finalizers of controllers of Extension objects, followed by a slash and a
	// name.
	FinalizerPrefixExtension = "extensions.gardener.cloud"
)
