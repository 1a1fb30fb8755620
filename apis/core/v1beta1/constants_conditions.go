// SPDX-License-Identifier: Apache-2.0

package v1beta1

const (
	// ConditionTypeHealthy of an installation says that its resources are healthy.
	ConditionTypeHealthy ConditionType = "Healthy"
	// ConditionTypeInstalled of an installation says that its resources were applied.
	ConditionTypeInstalled ConditionType = "Installed"
	// ConditionTypeProgressing of an installation says that a rollout is under way.
	ConditionTypeProgressing ConditionType = "Progressing"
	// ConditionTypeValid of an installation says that its configuration can be used.
	ConditionTypeValid ConditionType = "Valid"
	// ConditionTypeRequired of an installation says that objects of its extension exist in the seed.
	ConditionTypeRequired ConditionType = "Required"
	// ConditionTypeBackupBucketsReady says that all backup buckets are well.
	ConditionTypeBackupBucketsReady ConditionType = "BackupBucketsReady"
	// ConditionTypeExtensionsReady of a seed says that its extensions are well.
	ConditionTypeExtensionsReady ConditionType = "ExtensionsReady"
	// ConditionTypeSeedSystemComponentsHealthy of a seed says that its system components are well.
	ConditionTypeSeedSystemComponentsHealthy ConditionType = "SeedSystemComponentsHealthy"
	// ConditionTypeEmergencyStopShootReconciliations of a seed says that the reconciliation of its shoots is paused.
	ConditionTypeEmergencyStopShootReconciliations ConditionType = "EmergencyStopShootReconciliations"
	// ConditionTypeAPIServerAvailable of a shoot says that its API server answers.
	ConditionTypeAPIServerAvailable ConditionType = "APIServerAvailable"
	// ConditionTypeControlPlaneHealthy of a shoot says that the components of its control plane are well.
	ConditionTypeControlPlaneHealthy ConditionType = "ControlPlaneHealthy"
	// ConditionTypeObservabilityComponentsHealthy of a shoot says that its monitoring and logging are well.
	ConditionTypeObservabilityComponentsHealthy ConditionType = "ObservabilityComponentsHealthy"
	// ConditionTypeEveryNodeReady of a shoot says that all wanted nodes are there and ready.
	ConditionTypeEveryNodeReady ConditionType = "EveryNodeReady"
	// ConditionTypeSystemComponentsHealthy of a shoot says that the addons inside of it are well.
	ConditionTypeSystemComponentsHealthy ConditionType = "SystemComponentsHealthy"
	// ConditionTypeHibernationPossible is the constraint that no webhook would keep a shoot from waking up.
	ConditionTypeHibernationPossible ConditionType = "HibernationPossible"
	// ConditionTypeMaintenancePreconditionsSatisfied is the constraint that no webhook would get in the way of
	// maintenance.
	ConditionTypeMaintenancePreconditionsSatisfied ConditionType = "MaintenancePreconditionsSatisfied"
	// ConditionTypeCACertificateValiditiesAcceptable is the constraint that no certificate authority is about to
	// expire.
	ConditionTypeCACertificateValiditiesAcceptable ConditionType = "CACertificateValiditiesAcceptable"
	// ConditionTypeCRDsWithProblematicConversionWebhooks is the constraint that no custom resource definition needs
	// a webhook to read what is stored.
	ConditionTypeCRDsWithProblematicConversionWebhooks ConditionType = "CRDsWithProblematicConversionWebhooks"
	// ConditionTypeManualInPlaceWorkersUpdated is the constraint that pools updated by hand are up to date.
	ConditionTypeManualInPlaceWorkersUpdated ConditionType = "ManualInPlaceWorkersUpdated"
	// ConditionTypeHasIgnoredManagedResources is the constraint that no managed resource is switched off.
	ConditionTypeHasIgnoredManagedResources ConditionType = "HasIgnoredManagedResources"
	// ConditionTypeAutomaticCredentialsRotationPossible is the constraint that credentials can be rotated by
	// themselves.
	ConditionTypeAutomaticCredentialsRotationPossible ConditionType = "AutomaticCredentialsRotationPossible"
	// ConditionTypeReadyForMigration is the constraint that the destination of a migration is fit.
	ConditionTypeReadyForMigration ConditionType = "ReadyForMigration"
	// ConditionTypeDualStackNodesMigrationReady is the constraint that nodes have moved to the new IP families.
	ConditionTypeDualStackNodesMigrationReady ConditionType = "DualStackNodesMigrationReady"
	// ConditionTypeDNSServiceMigrationReady is the constraint that the cluster's DNS has moved to the new IP
	// families.
	ConditionTypeDNSServiceMigrationReady ConditionType = "DNSServiceMigrationReady"
	// ConditionTypeUsesUnifiedHTTPProxyPort is the constraint that the tunnel uses the shared proxy port.
	ConditionTypeUsesUnifiedHTTPProxyPort ConditionType = "UsesUnifiedHTTPProxyPort"
	// ConditionTypePreservedFailedMachinesAbsent is the constraint that no failed machine is kept for analysis.
	ConditionTypePreservedFailedMachinesAbsent ConditionType = "PreservedFailedMachinesAbsent"
	// ConditionTypeSourceEtcdPreparedForPeerJoin is the step of a live migration after which the old etcd takes new
	// members.
	ConditionTypeSourceEtcdPreparedForPeerJoin ConditionType = "SourceEtcdPreparedForPeerJoin"
	// ConditionTypeDestinationEtcdPeersJoined is the step of a live migration after which the new members belong to
	// the etcd cluster.
	ConditionTypeDestinationEtcdPeersJoined ConditionType = "DestinationEtcdPeersJoined"
	// ConditionTypeMigrateExtensionsNeededBeforeKubeAPIServer is the step of a live migration after which early
	// extension objects have moved.
	ConditionTypeMigrateExtensionsNeededBeforeKubeAPIServer ConditionType = "MigrateExtensionsNeededBeforeKubeAPIServer"
	// ConditionTypeDestinationKubeAPIServerReady is the step of a live migration after which the new API server
	// runs.
	ConditionTypeDestinationKubeAPIServerReady ConditionType = "DestinationKubeAPIServerReady"
	// ConditionTypeMigrateDNSRecords is the step of a live migration after which names lead to the new seed.
	ConditionTypeMigrateDNSRecords ConditionType = "MigrateDNSRecords"
	// ConditionTypeEtcdMigrationComplete is the step of a live migration after which the old etcd members are gone.
	ConditionTypeEtcdMigrationComplete ConditionType = "EtcdMigrationComplete"
	// ConditionTypeSourceSeedCleanup is the step of a live migration after which nothing is left on the old seed.
	ConditionTypeSourceSeedCleanup ConditionType = "SourceSeedCleanup"
	// ConditionTypeMigrationCompleted is the last step of a live migration.
	ConditionTypeMigrationCompleted ConditionType = "MigrationCompleted"
	// ConditionTypeGardenletReady says that the gardenlet sends its heartbeats.
	ConditionTypeGardenletReady ConditionType = "GardenletReady"
)
