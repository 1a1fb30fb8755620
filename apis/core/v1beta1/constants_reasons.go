// SPDX-License-Identifier: Apache-2.0

package v1beta1

// General reasons of conditions.
const (
	// ReasonConditionInitialized says that nothing was checked so far.
	ReasonConditionInitialized = "ConditionInitialized"
	// ReasonConditionCheckError says that the check itself failed.
	ReasonConditionCheckError = "ConditionCheckError"
	// ReasonConditionNotChecked says that a hibernated shoot is not checked.
	ReasonConditionNotChecked = "ConditionNotChecked"
	// ReasonConstraintNotChecked says that the constraint was skipped.
	ReasonConstraintNotChecked = "ConstraintNotChecked"
	// ReasonStatusUnknown says that the gardenlet is silent.
	ReasonStatusUnknown = "StatusUnknown"
	// ReasonOutdatedStatus says that the status belongs to an older generation.
	ReasonOutdatedStatus = "OutdatedStatus"
	// ReasonProgressingRolloutStuck says that a rollout takes too long.
	ReasonProgressingRolloutStuck = "ProgressingRolloutStuck"
	// ReasonOutdatedControllerRegistration says that an installation has not seen the current registration.
	ReasonOutdatedControllerRegistration = "OutdatedControllerRegistration"
	// ReasonMissingControllerInstallationCondition says that an installation lacks a condition.
	ReasonMissingControllerInstallationCondition = "MissingControllerInstallationCondition"
)

// Reasons of shoot conditions.
const (
	// ReasonHealthzRequestSucceeded says that the API server answered.
	ReasonHealthzRequestSucceeded = "HealthzRequestSucceeded"
	// ReasonHealthzRequestFailed says that the API server could not be asked.
	ReasonHealthzRequestFailed = "HealthzRequestFailed"
	// ReasonHealthzRequestError says that the API server answered with an error.
	ReasonHealthzRequestError = "HealthzRequestError"
	// ReasonAPIServerDown says that the API server does not answer.
	ReasonAPIServerDown = "APIServerDown"
	// ReasonControlPlaneRunning says that all components of the control plane run.
	ReasonControlPlaneRunning = "ControlPlaneRunning"
	// ReasonDeploymentMissing says that a deployment of the control plane is missing.
	ReasonDeploymentMissing = "DeploymentMissing"
	// ReasonDeploymentUnhealthy says that a deployment of the control plane is unhealthy.
	ReasonDeploymentUnhealthy = "DeploymentUnhealthy"
	// ReasonEtcdMissing says that an etcd is missing.
	ReasonEtcdMissing = "EtcdMissing"
	// ReasonEtcdUnhealthy says that an etcd is unhealthy.
	ReasonEtcdUnhealthy = "EtcdUnhealthy"
	// ReasonControllersScaledDown says that controllers were scaled to zero to protect the shoot.
	ReasonControllersScaledDown = "ControllersScaledDown"
	// ReasonEveryNodeReady says that all wanted nodes are there and ready.
	ReasonEveryNodeReady = "EveryNodeReady"
	// ReasonMissingNodes says that fewer nodes are there than wanted.
	ReasonMissingNodes = "MissingNodes"
	// ReasonNodeUnhealthy says that a node is unhealthy.
	ReasonNodeUnhealthy = "NodeUnhealthy"
	// ReasonNodesScalingUp says that nodes are being added.
	ReasonNodesScalingUp = "NodesScalingUp"
	// ReasonNodesRollOutScalingUp says that there are enough nodes, and that those that are to replace some of them do not start.
	ReasonNodesRollOutScalingUp = "NodesRollOutScalingUp"
	// ReasonNodesScalingDown says that nodes are being removed.
	ReasonNodesScalingDown = "NodesScalingDown"
	// ReasonOperatingSystemConfigOutdated says that a node has not applied the present configuration of its pool.
	ReasonOperatingSystemConfigOutdated = "OperatingSystemConfigOutdated"
	// ReasonNodeAgentUnhealthy says that the agent of a node is silent.
	ReasonNodeAgentUnhealthy = "NodeAgentUnhealthy"
	// ReasonKubeletVersionMismatch says that a kubelet has another version than wanted.
	ReasonKubeletVersionMismatch = "KubeletVersionMismatch"
	// ReasonTooManyExpiredNodeLeases says that too many nodes are silent.
	ReasonTooManyExpiredNodeLeases = "TooManyExpiredNodeLeases"
	// ReasonSystemComponentsRunning says that all system components run.
	ReasonSystemComponentsRunning = "SystemComponentsRunning"
	// ReasonObservabilityComponentsRunning says that all components for observation run.
	ReasonObservabilityComponentsRunning = "ObservabilityComponentsRunning"
	// ReasonNoTunnelDeployed says that there is no tunnel into the shoot.
	ReasonNoTunnelDeployed = "NoTunnelDeployed"
	// ReasonTunnelConnectionBroken says that the tunnel into the shoot does not work.
	ReasonTunnelConnectionBroken = "TunnelConnectionBroken"
	// ReasonNoProblematicWebhooks says that no webhook is in the way.
	ReasonNoProblematicWebhooks = "NoProblematicWebhooks"
	// ReasonProblematicWebhooks says that a webhook is in the way.
	ReasonProblematicWebhooks = "ProblematicWebhooks"
	// ReasonManualInPlaceWorkersPending says that machines wait until their owner selects them for an update in place.
	ReasonManualInPlaceWorkersPending = "WorkerPoolsWithManualInPlaceUpdateStrategyPending"
	// ReasonManagedResourcesIgnored says that managed resources are switched off.
	ReasonManagedResourcesIgnored = "ManagedResourcesIgnored"
	// ReasonMaintenanceWindowDuringHibernation says that a shoot sleeps whenever it could be maintained.
	ReasonMaintenanceWindowDuringHibernation = "MaintenanceWindowDuringHibernation"
	// ReasonNoExpiringCACertificates says that no CA is close to its end.
	ReasonNoExpiringCACertificates = "NoExpiringCACertificates"
	// ReasonExpiringCACertificates says that a CA is close to its end.
	ReasonExpiringCACertificates = "ExpiringCACertificates"
)

// Reasons of seed conditions.
const (
	// ReasonGardenletReady says that the gardenlet renews its lease.
	ReasonGardenletReady = "GardenletReady"
	// ReasonAllExtensionsReady says that all extensions of the seed are well.
	ReasonAllExtensionsReady = "AllExtensionsReady"
	// ReasonNotAllExtensionsValid says that the configuration of an extension is wrong.
	ReasonNotAllExtensionsValid = "NotAllExtensionsValid"
	// ReasonNotAllExtensionsInstalled says that an extension is not installed.
	ReasonNotAllExtensionsInstalled = "NotAllExtensionsInstalled"
	// ReasonNotAllExtensionsHealthy says that an extension is unhealthy.
	ReasonNotAllExtensionsHealthy = "NotAllExtensionsHealthy"
	// ReasonSomeExtensionsProgressing says that an extension is being rolled out.
	ReasonSomeExtensionsProgressing = "SomeExtensionsProgressing"
	// ReasonBackupBucketsAvailable says that all backup buckets are well.
	ReasonBackupBucketsAvailable = "BackupBucketsAvailable"
	// ReasonBackupBucketsGone says that there is no backup bucket.
	ReasonBackupBucketsGone = "BackupBucketsGone"
	// ReasonBackupBucketsError says that a backup bucket has an error.
	ReasonBackupBucketsError = "BackupBucketsError"
)

// Reasons of conditions of controller installations.
const (
	// ReasonRegistrationValid says that the registration can be used.
	ReasonRegistrationValid = "RegistrationValid"
	// ReasonRegistrationNotFound says that the registration is missing.
	ReasonRegistrationNotFound = "RegistrationNotFound"
	// ReasonRegistrationReadError says that the registration could not be read.
	ReasonRegistrationReadError = "RegistrationReadError"
	// ReasonSeedNotFound says that the seed is missing.
	ReasonSeedNotFound = "SeedNotFound"
	// ReasonSeedReadError says that the seed could not be read.
	ReasonSeedReadError = "SeedReadError"
	// ReasonChartInformationInvalid says that the deployment does not hold a chart.
	ReasonChartInformationInvalid = "ChartInformationInvalid"
	// ReasonChartCannotBeRendered says that the chart could not be rendered.
	ReasonChartCannotBeRendered = "ChartCannotBeRendered"
	// ReasonRenderingHelmValuesFailed says that the values of the chart could not be made.
	ReasonRenderingHelmValuesFailed = "RenderingHelmValuesFailed"
	// ReasonOCIChartCannotBePulled says that the chart could not be fetched.
	ReasonOCIChartCannotBePulled = "OCIChartCannotBePulled"
	// ReasonInstallationSuccessful says that all resources were applied.
	ReasonInstallationSuccessful = "InstallationSuccessful"
	// ReasonInstallationPending says that resources are being applied.
	ReasonInstallationPending = "InstallationPending"
	// ReasonInstallationFailed says that resources could not be applied.
	ReasonInstallationFailed = "InstallationFailed"
	// ReasonDeletionPending says that resources are being deleted.
	ReasonDeletionPending = "DeletionPending"
	// ReasonDeletionFailed says that resources could not be deleted.
	ReasonDeletionFailed = "DeletionFailed"
	// ReasonDeletionSuccessful says that all resources are gone.
	ReasonDeletionSuccessful = "DeletionSuccessful"
	// ReasonControllerHealthy says that all resources are healthy.
	ReasonControllerHealthy = "ControllerHealthy"
	// ReasonControllerNotHealthy says that a resource is unhealthy.
	ReasonControllerNotHealthy = "ControllerNotHealthy"
	// ReasonControllerRolledOut says that the rollout ended.
	ReasonControllerRolledOut = "ControllerRolledOut"
	// ReasonControllerNotRolledOut says that the rollout is under way.
	ReasonControllerNotRolledOut = "ControllerNotRolledOut"
	// ReasonExtensionObjectsExist says that objects of the extension exist in the seed.
	ReasonExtensionObjectsExist = "ExtensionObjectsExist"
	// ReasonNoExtensionObjects says that no object of the extension exists in the seed.
	ReasonNoExtensionObjects = "NoExtensionObjects"
)
