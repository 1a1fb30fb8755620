// SPDX-License-Identifier: Apache-2.0

package v1beta1

const (
	// ConditionTypeHealthy stands for Healthy.
	ConditionTypeHealthy ConditionType = "Healthy"
	// ConditionTypeInstalled stands for Installed.
	ConditionTypeInstalled ConditionType = "Installed"
	// ConditionTypeProgressing stands for Progressing.
	ConditionTypeProgressing ConditionType = "Progressing"
	// ConditionTypeValid stands for Valid.
	ConditionTypeValid ConditionType = "Valid"
	// ConditionTypeRequired stands for Required.
	ConditionTypeRequired ConditionType = "Required"
	// ConditionTypeBackupBucketsReady stands for BackupBucketsReady.
	ConditionTypeBackupBucketsReady ConditionType = "BackupBucketsReady"
	// ConditionTypeExtensionsReady stands for ExtensionsReady.
	ConditionTypeExtensionsReady ConditionType = "ExtensionsReady"
	// ConditionTypeSeedSystemComponentsHealthy stands for SeedSystemComponentsHealthy.
	ConditionTypeSeedSystemComponentsHealthy ConditionType = "SeedSystemComponentsHealthy"
	// ConditionTypeEmergencyStopShootReconciliations stands for EmergencyStopShootReconciliations.
	ConditionTypeEmergencyStopShootReconciliations ConditionType = "EmergencyStopShootReconciliations"
	// ConditionTypeAPIServerAvailable stands for APIServerAvailable.
	ConditionTypeAPIServerAvailable ConditionType = "APIServerAvailable"
	// ConditionTypeControlPlaneHealthy stands for ControlPlaneHealthy.
	ConditionTypeControlPlaneHealthy ConditionType = "ControlPlaneHealthy"
	// ConditionTypeObservabilityComponentsHealthy stands for ObservabilityComponentsHealthy.
	ConditionTypeObservabilityComponentsHealthy ConditionType = "ObservabilityComponentsHealthy"
	// ConditionTypeEveryNodeReady stands for EveryNodeReady.
	ConditionTypeEveryNodeReady ConditionType = "EveryNodeReady"
	// ConditionTypeSystemComponentsHealthy stands for SystemComponentsHealthy.
	ConditionTypeSystemComponentsHealthy ConditionType = "SystemComponentsHealthy"
	// ConditionTypeHibernationPossible stands for HibernationPossible.
	ConditionTypeHibernationPossible ConditionType = "HibernationPossible"
	// ConditionTypeMaintenancePreconditionsSatisfied stands for MaintenancePreconditionsSatisfied.
	ConditionTypeMaintenancePreconditionsSatisfied ConditionType = "MaintenancePreconditionsSatisfied"
	// ConditionTypeCACertificateValiditiesAcceptable stands for CACertificateValiditiesAcceptable.
	ConditionTypeCACertificateValiditiesAcceptable ConditionType = "CACertificateValiditiesAcceptable"
	// ConditionTypeCRDsWithProblematicConversionWebhooks stands for CRDsWithProblematicConversionWebhooks.
	ConditionTypeCRDsWithProblematicConversionWebhooks ConditionType = "CRDsWithProblematicConversionWebhooks"
	// ConditionTypeManualInPlaceWorkersUpdated stands for ManualInPlaceWorkersUpdated.
	ConditionTypeManualInPlaceWorkersUpdated ConditionType = "ManualInPlaceWorkersUpdated"
	// ConditionTypeHasIgnoredManagedResources stands for HasIgnoredManagedResources.
	ConditionTypeHasIgnoredManagedResources ConditionType = "HasIgnoredManagedResources"
	// ConditionTypeAutomaticCredentialsRotationPossible stands for AutomaticCredentialsRotationPossible.
	ConditionTypeAutomaticCredentialsRotationPossible ConditionType = "AutomaticCredentialsRotationPossible"
	// ConditionTypeReadyForMigration stands for ReadyForMigration.
	ConditionTypeReadyForMigration ConditionType = "ReadyForMigration"
	// ConditionTypeDualStackNodesMigrationReady stands for DualStackNodesMigrationReady.
	ConditionTypeDualStackNodesMigrationReady ConditionType = "DualStackNodesMigrationReady"
	// ConditionTypeDNSServiceMigrationReady stands for DNSServiceMigrationReady.
	ConditionTypeDNSServiceMigrationReady ConditionType = "DNSServiceMigrationReady"
	// ConditionTypeUsesUnifiedHTTPProxyPort stands for UsesUnifiedHTTPProxyPort.
	ConditionTypeUsesUnifiedHTTPProxyPort ConditionType = "UsesUnifiedHTTPProxyPort"
	// ConditionTypePreservedFailedMachinesAbsent stands for PreservedFailedMachinesAbsent.
	ConditionTypePreservedFailedMachinesAbsent ConditionType = "PreservedFailedMachinesAbsent"
	// ConditionTypeSourceEtcdPreparedForPeerJoin stands for SourceEtcdPreparedForPeerJoin.
	ConditionTypeSourceEtcdPreparedForPeerJoin ConditionType = "SourceEtcdPreparedForPeerJoin"
	// ConditionTypeDestinationEtcdPeersJoined stands for DestinationEtcdPeersJoined.
	ConditionTypeDestinationEtcdPeersJoined ConditionType = "DestinationEtcdPeersJoined"
	// ConditionTypeMigrateExtensionsNeededBeforeKubeAPIServer stands for MigrateExtensionsNeededBeforeKubeAPIServer.
	ConditionTypeMigrateExtensionsNeededBeforeKubeAPIServer ConditionType = "MigrateExtensionsNeededBeforeKubeAPIServer"
	// ConditionTypeDestinationKubeAPIServerReady stands for DestinationKubeAPIServerReady.
	ConditionTypeDestinationKubeAPIServerReady ConditionType = "DestinationKubeAPIServerReady"
	// ConditionTypeMigrateDNSRecords stands for MigrateDNSRecords.
	ConditionTypeMigrateDNSRecords ConditionType = "MigrateDNSRecords"
	// ConditionTypeEtcdMigrationComplete stands for EtcdMigrationComplete.
	ConditionTypeEtcdMigrationComplete ConditionType = "EtcdMigrationComplete"
	// ConditionTypeSourceSeedCleanup stands for SourceSeedCleanup.
	ConditionTypeSourceSeedCleanup ConditionType = "SourceSeedCleanup"
	// ConditionTypeMigrationCompleted stands for MigrationCompleted.
	ConditionTypeMigrationCompleted ConditionType = "MigrationCompleted"
	// ConditionTypeGardenletReady stands for GardenletReady.
	ConditionTypeGardenletReady ConditionType = "GardenletReady"
)
