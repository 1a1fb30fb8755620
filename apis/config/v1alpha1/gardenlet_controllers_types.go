// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// GardenletControllerConfiguration sets the pace of each controller of a gardenlet.
type GardenletControllerConfiguration struct {
	// CacheSyncTimeout is the timeout of the initial synchronization of the caches. Defaults to 2m.
	// +optional
	CacheSyncTimeout *metav1.Duration `json:"cacheSyncTimeout,omitempty"`
	// BackupBucket configures the controller of backup buckets.
	// +optional
	BackupBucket *BackupBucketControllerConfiguration `json:"backupBucket,omitempty"`
	// BackupEntry configures the controller of backup entries.
	// +optional
	BackupEntry *BackupEntryControllerConfiguration `json:"backupEntry,omitempty"`
	// Bastion configures the controller of bastions.
	// +optional
	Bastion *BastionControllerConfiguration `json:"bastion,omitempty"`
	// ControllerInstallation configures the controller that installs extensions.
	// +optional
	ControllerInstallation *ControllerInstallationControllerConfiguration `json:"controllerInstallation,omitempty"`
	// ControllerInstallationCare configures the health checks of extensions.
	// +optional
	ControllerInstallationCare *ControllerInstallationCareControllerConfiguration `json:"controllerInstallationCare,omitempty"`
	// ControllerInstallationRequired configures the controller that determines which extensions are in use.
	// +optional
	ControllerInstallationRequired *ControllerInstallationRequiredControllerConfiguration `json:"controllerInstallationRequired,omitempty"`
	// Gardenlet configures the controller of Gardenlet objects.
	// +optional
	Gardenlet *GardenletObjectControllerConfiguration `json:"gardenlet,omitempty"`
	// Seed configures the controller of the seed.
	// +optional
	Seed *SeedControllerConfiguration `json:"seed,omitempty"`
	// SeedCare configures the health checks of the seed.
	// +optional
	SeedCare *SeedCareControllerConfiguration `json:"seedCare,omitempty"`
	// Shoot configures the controller of shoots.
	// +optional
	Shoot *ShootControllerConfiguration `json:"shoot,omitempty"`
	// ShootCare configures the health checks of shoots.
	// +optional
	ShootCare *ShootCareControllerConfiguration `json:"shootCare,omitempty"`
	// ShootState configures the backup of shoot states.
	// +optional
	ShootState *ShootStateControllerConfiguration `json:"shootState,omitempty"`
	// ShootStatus configures the controller that keeps statuses of shoots up to date.
	// +optional
	ShootStatus *ShootStatusControllerConfiguration `json:"shootStatus,omitempty"`
	// NetworkPolicy configures the controller of network policies.
	// +optional
	NetworkPolicy *NetworkPolicyControllerConfiguration `json:"networkPolicy,omitempty"`
	// ManagedSeed configures the controller of managed seeds.
	// +optional
	ManagedSeed *ManagedSeedControllerConfiguration `json:"managedSeed,omitempty"`
	// TokenRequestorServiceAccount configures the controller that requests tokens of service accounts in the garden.
	// +optional
	TokenRequestorServiceAccount *TokenRequestorServiceAccountControllerConfiguration `json:"tokenRequestor,omitempty"`
	// TokenRequestorWorkloadIdentity configures the controller that requests tokens of workload identities.
	// +optional
	TokenRequestorWorkloadIdentity *TokenRequestorWorkloadIdentityControllerConfiguration `json:"tokenRequestorWorkloadIdentity,omitempty"`
	// VPAEvictionRequirements configures the controller that restricts evictions.
	// +optional
	VPAEvictionRequirements *VPAEvictionRequirementsControllerConfiguration `json:"vpaEvictionRequirements,omitempty"`
}

// BackupBucketControllerConfiguration configures the controller of backup buckets.
type BackupBucketControllerConfiguration struct {
	// ConcurrentSyncs is the number of workers. Defaults to 20.
	// +optional
	ConcurrentSyncs *int `json:"concurrentSyncs,omitempty"`
}

// BackupEntryControllerConfiguration configures the controller of backup entries.
type BackupEntryControllerConfiguration struct {
	// ConcurrentSyncs is the number of workers. Defaults to 20.
	// +optional
	ConcurrentSyncs *int `json:"concurrentSyncs,omitempty"`
	// DeletionGracePeriodHours is how long backups outlive their shoot, in hours. Defaults to 0.
	// +optional
	DeletionGracePeriodHours *int `json:"deletionGracePeriodHours,omitempty"`
	// DeletionGracePeriodShootPurposes restricts the grace period to shoots of these purposes; all when empty.
	// +optional
	DeletionGracePeriodShootPurposes []gardencorev1beta1.ShootPurpose `json:"deletionGracePeriodShootPurposes,omitempty"`
}

// BastionControllerConfiguration configures the controller of bastions.
type BastionControllerConfiguration struct {
	// ConcurrentSyncs is the number of workers. Defaults to 20.
	// +optional
	ConcurrentSyncs *int `json:"concurrentSyncs,omitempty"`
}

// ControllerInstallationControllerConfiguration configures the controller that installs extensions.
type ControllerInstallationControllerConfiguration struct {
	// ConcurrentSyncs is the number of workers. Defaults to 20.
	// +optional
	ConcurrentSyncs *int `json:"concurrentSyncs,omitempty"`
}

// ControllerInstallationCareControllerConfiguration configures the health checks of extensions.
type ControllerInstallationCareControllerConfiguration struct {
	// ConcurrentSyncs is the number of workers. Defaults to 20.
	// +optional
	ConcurrentSyncs *int `json:"concurrentSyncs,omitempty"`
	// SyncPeriod is the time between two checks. Defaults to 30s.
	// +optional
	SyncPeriod *metav1.Duration `json:"syncPeriod,omitempty"`
}

// ControllerInstallationRequiredControllerConfiguration configures the controller that determines which extensions are in
// use.
type ControllerInstallationRequiredControllerConfiguration struct {
	// ConcurrentSyncs is the number of workers. Defaults to 1.
	// +optional
	ConcurrentSyncs *int `json:"concurrentSyncs,omitempty"`
}

// GardenletObjectControllerConfiguration configures the controller of Gardenlet objects.
type GardenletObjectControllerConfiguration struct {
	// SyncPeriod is the time between two reconciliations. Defaults to 1h.
	// +optional
	SyncPeriod *metav1.Duration `json:"syncPeriod,omitempty"`
}

// SeedControllerConfiguration configures the controller of the seed.
type SeedControllerConfiguration struct {
	// SyncPeriod is the time between two reconciliations. Defaults to 1m.
	// +optional
	SyncPeriod *metav1.Duration `json:"syncPeriod,omitempty"`
	// LeaseResyncSeconds is the time in seconds between two renewals of the lease. Defaults to 2.
	// +optional
	LeaseResyncSeconds *int32 `json:"leaseResyncSeconds,omitempty"`
	// LeaseResyncMissThreshold is the number of missed renewals after which the gardenlet is unhealthy. Defaults to 10.
	// +optional
	LeaseResyncMissThreshold *int32 `json:"leaseResyncMissThreshold,omitempty"`
}

// SeedCareControllerConfiguration configures the health checks of the seed.
type SeedCareControllerConfiguration struct {
	// SyncPeriod is the time between two checks. Defaults to 30s.
	// +optional
	SyncPeriod *metav1.Duration `json:"syncPeriod,omitempty"`
	// ConditionThresholds say how long a condition is Progressing before it turns False.
	// +optional
	ConditionThresholds []ConditionThreshold `json:"conditionThresholds,omitempty"`
}

// ConditionThreshold is how long a condition is Progressing before it turns False.
type ConditionThreshold struct {
	// Type is the type of the condition.
	Type string `json:"type"`
	// Duration is the time.
	Duration metav1.Duration `json:"duration"`
}

// ShootControllerConfiguration configures the controller of shoots.
type ShootControllerConfiguration struct {
	// ConcurrentSyncs is the number of workers. Defaults to 20.
	// +optional
	ConcurrentSyncs *int `json:"concurrentSyncs,omitempty"`
	// ProgressReportPeriod is the least time between two reports of progress; immediate when unset.
	// +optional
	ProgressReportPeriod *metav1.Duration `json:"progressReportPeriod,omitempty"`
	// ReconcileInMaintenanceOnly defers periodic reconciliations to the maintenance time window. Defaults to false.
	// +optional
	ReconcileInMaintenanceOnly *bool `json:"reconcileInMaintenanceOnly,omitempty"`
	// RespectSyncPeriodOverwrite honours the annotation that changes the sync period. Defaults to false.
	// +optional
	RespectSyncPeriodOverwrite *bool `json:"respectSyncPeriodOverwrite,omitempty"`
	// RetryDuration is how long a failing operation is retried before it is considered failed. Defaults to 12h.
	// +optional
	RetryDuration *metav1.Duration `json:"retryDuration,omitempty"`
	// SyncPeriod is the time between two reconciliations. Defaults to 1h.
	// +optional
	SyncPeriod *metav1.Duration `json:"syncPeriod,omitempty"`
	// DNSEntryTTLSeconds is the lifetime of DNS records in seconds. Defaults to 120.
	// +optional
	DNSEntryTTLSeconds *int64 `json:"dnsEntryTTLSeconds,omitempty"`
}

// ShootCareControllerConfiguration configures the health checks of shoots.
type ShootCareControllerConfiguration struct {
	// ConcurrentSyncs is the number of workers. Defaults to 20.
	// +optional
	ConcurrentSyncs *int `json:"concurrentSyncs,omitempty"`
	// SyncPeriod is the time between two checks. Defaults to 1m.
	// +optional
	SyncPeriod *metav1.Duration `json:"syncPeriod,omitempty"`
	// StaleExtensionHealthChecks says how old the report of an extension may be.
	// +optional
	StaleExtensionHealthChecks *StaleExtensionHealthChecks `json:"staleExtensionHealthChecks,omitempty"`
	// ManagedResourceProgressingThreshold is how long a rollout may take before it is reported; never when unset.
	// +optional
	ManagedResourceProgressingThreshold *metav1.Duration `json:"managedResourceProgressingThreshold,omitempty"`
	// ConditionThresholds say how long a condition is Progressing before it turns False.
	// +optional
	ConditionThresholds []ConditionThreshold `json:"conditionThresholds,omitempty"`
	// WebhookRemediatorEnabled lets the gardenlet correct webhooks of users that break the cluster.
	// +optional
	WebhookRemediatorEnabled *bool `json:"webhookRemediatorEnabled,omitempty"`
}

// StaleExtensionHealthChecks says how old the report of an extension may be.
type StaleExtensionHealthChecks struct {
	// Enabled enables the check; it is enabled when the whole object is absent.
	Enabled bool `json:"enabled"`
	// Threshold is the maximum age. Defaults to 5m.
	// +optional
	Threshold *metav1.Duration `json:"threshold,omitempty"`
}

// ShootStateControllerConfiguration configures the backup of shoot states.
type ShootStateControllerConfiguration struct {
	// ConcurrentSyncs is the number of workers; no state is saved with 0. Defaults to 5.
	// +optional
	ConcurrentSyncs *int `json:"concurrentSyncs,omitempty"`
	// SyncPeriod is the time between two backups. Defaults to 6h.
	// +optional
	SyncPeriod *metav1.Duration `json:"syncPeriod,omitempty"`
}

// ShootStatusControllerConfiguration configures the controller that keeps statuses of shoots up to date.
type ShootStatusControllerConfiguration struct {
	// ConcurrentSyncs is the number of workers. Defaults to 5.
	// +optional
	ConcurrentSyncs *int `json:"concurrentSyncs,omitempty"`
}

// NetworkPolicyControllerConfiguration configures the controller of network policies.
type NetworkPolicyControllerConfiguration struct {
	// ConcurrentSyncs is the number of workers. Defaults to 5.
	// +optional
	ConcurrentSyncs *int `json:"concurrentSyncs,omitempty"`
	// AdditionalNamespaceSelectors select further namespaces that get policies.
	// +optional
	AdditionalNamespaceSelectors []metav1.LabelSelector `json:"additionalNamespaceSelectors,omitempty"`
}

// ManagedSeedControllerConfiguration configures the controller of managed seeds.
type ManagedSeedControllerConfiguration struct {
	// ConcurrentSyncs is the number of workers. Defaults to 20.
	// +optional
	ConcurrentSyncs *int `json:"concurrentSyncs,omitempty"`
	// SyncPeriod is the time between two reconciliations. Defaults to 1h.
	// +optional
	SyncPeriod *metav1.Duration `json:"syncPeriod,omitempty"`
	// WaitSyncPeriod is the time between two checks while waiting for a condition. Defaults to 15s.
	// +optional
	WaitSyncPeriod *metav1.Duration `json:"waitSyncPeriod,omitempty"`
	// SyncJitterPeriod spreads reconciliations over time. Defaults to 5m.
	// +optional
	SyncJitterPeriod *metav1.Duration `json:"syncJitterPeriod,omitempty"`
	// JitterUpdates spreads reconciliations after changes of the spec as well. Defaults to false.
	// +optional
	JitterUpdates *bool `json:"jitterUpdates,omitempty"`
}

// TokenRequestorServiceAccountControllerConfiguration configures the controller that requests tokens of service
// accounts.
type TokenRequestorServiceAccountControllerConfiguration struct {
	// ConcurrentSyncs is the number of workers. Defaults to 5.
	// +optional
	ConcurrentSyncs *int `json:"concurrentSyncs,omitempty"`
}

// TokenRequestorWorkloadIdentityControllerConfiguration configures the controller that requests tokens of
// workload identities.
type TokenRequestorWorkloadIdentityControllerConfiguration struct {
	// ConcurrentSyncs is the number of workers. Defaults to 5.
	// +optional
	ConcurrentSyncs *int `json:"concurrentSyncs,omitempty"`
	// TokenExpirationDuration is the desired lifetime of the tokens. Defaults to 6h.
	// +optional
	TokenExpirationDuration *metav1.Duration `json:"tokenExpirationDuration,omitempty"`
}

// VPAEvictionRequirementsControllerConfiguration configures the controller that restricts evictions.
type VPAEvictionRequirementsControllerConfiguration struct {
	// ConcurrentSyncs is the number of workers. Defaults to 5.
	// +optional
	ConcurrentSyncs *int `json:"concurrentSyncs,omitempty"`
}
