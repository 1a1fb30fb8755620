// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"iter"
	"reflect"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ServerControllerConfiguration configures each controller of the garden.
type ServerControllerConfiguration struct {
	// Bastion configures the controller that deletes bastions.
	// +optional
	Bastion ServerBastionControllerConfiguration `json:"bastion,omitempty"`
	// CacheSyncTimeout is how long the controllers wait at their start until they know all objects that they watch. Defaults to 2m.
	// +optional
	CacheSyncTimeout *metav1.Duration `json:"cacheSyncTimeout,omitempty"`
	// CertificateSigningRequest configures the controller that approves gardenlets.
	// +optional
	CertificateSigningRequest ConcurrencyConfiguration `json:"certificateSigningRequest,omitempty"`
	// CloudProfile configures the controller of cloud profiles.
	// +optional
	CloudProfile ConcurrencyConfiguration `json:"cloudProfile,omitempty"`
	// ControllerDeployment configures the controller of controller deployments.
	// +optional
	ControllerDeployment ConcurrencyConfiguration `json:"controllerDeployment,omitempty"`
	// ControllerDeploymentReference configures the controller that protects the objects that controller deployments refer to.
	// +optional
	ControllerDeploymentReference ConcurrencyConfiguration `json:"controllerDeploymentReference,omitempty"`
	// ControllerRegistration configures the controllers that decide which extensions a seed or a self-hosted shoot needs and what they
	// may do.
	// +optional
	ControllerRegistration ConcurrencyConfiguration `json:"controllerRegistration,omitempty"`
	// CredentialsBinding configures the controller of credentials bindings.
	// +optional
	CredentialsBinding ConcurrencyConfiguration `json:"credentialsBinding,omitempty"`
	// Disabled names controllers that do not run, as the log and metrics name them, such as project-stale or scheduler. Nobody does
	// their work then, unless another controller that uses the API does it.
	// +optional
	Disabled []string `json:"disabled,omitempty"`
	// Event configures the controller that deletes events that are not about shoots. It only runs if this is given.
	// +optional
	Event *ServerEventControllerConfiguration `json:"event,omitempty"`
	// ExposureClass configures the controller of exposure classes.
	// +optional
	ExposureClass ConcurrencyConfiguration `json:"exposureClass,omitempty"`
	// GardenCare says how often the health of the garden is written into its Garden, and how.
	// +optional
	GardenCare ServerGardenCareConfiguration `json:"gardenCare,omitempty"`
	// ManagedSeedSet configures the controller of managed seed sets.
	// +optional
	ManagedSeedSet ServerManagedSeedSetControllerConfiguration `json:"managedSeedSet,omitempty"`
	// NamespacedCloudProfile configures the controllers of cloud profiles of projects.
	// +optional
	NamespacedCloudProfile ConcurrencyConfiguration `json:"namespacedCloudProfile,omitempty"`
	// Plant configures the controller that looks at the clusters of plants.
	// +optional
	Plant ServerPlantControllerConfiguration `json:"plant,omitempty"`
	// Project configures the controllers of projects.
	// +optional
	Project ServerProjectControllerConfiguration `json:"project,omitempty"`
	// Quota configures the controller of quotas.
	// +optional
	Quota ConcurrencyConfiguration `json:"quota,omitempty"`
	// SecretBinding configures the controller of secret bindings.
	// +optional
	SecretBinding ConcurrencyConfiguration `json:"secretBinding,omitempty"`
	// Seed configures the controllers of seeds, and the one that watches the gardenlets of self-hosted shoots.
	// +optional
	Seed ServerSeedControllerConfiguration `json:"seed,omitempty"`
	// SeedBackupBucketsCheck configures the controller that checks the backup buckets of seeds.
	// +optional
	SeedBackupBucketsCheck ServerSeedCheckConfiguration `json:"seedBackupBucketsCheck,omitempty"`
	// SeedExtensionsCheck configures the controller that checks the extensions of seeds.
	// +optional
	SeedExtensionsCheck ServerSeedCheckConfiguration `json:"seedExtensionsCheck,omitempty"`
	// SeedReference configures the controller that protects the objects that seeds refer to.
	// +optional
	SeedReference ConcurrencyConfiguration `json:"seedReference,omitempty"`
	// ShootConditions configures the controller that shows the conditions of managed seeds in their shoots.
	// +optional
	ShootConditions ConcurrencyConfiguration `json:"shootConditions,omitempty"`
	// ShootMigration configures the controller that says whether a shoot can move to another seed.
	// +optional
	ShootMigration ConcurrencyConfiguration `json:"shootMigration,omitempty"`
	// ShootQuota configures the controller that deletes shoots whose quota limits their lifetime.
	// +optional
	ShootQuota ServerShootQuotaControllerConfiguration `json:"shootQuota,omitempty"`
	// ShootHibernation configures the controller that puts shoots to sleep and wakes them up by their schedules.
	// +optional
	ShootHibernation ServerShootHibernationConfiguration `json:"shootHibernation,omitempty"`
	// ShootMaintenance configures the controller that maintains shoots in their maintenance time windows.
	// +optional
	ShootMaintenance ServerShootMaintenanceConfiguration `json:"shootMaintenance,omitempty"`
	// ShootReference configures the controller that protects the objects that shoots refer to.
	// +optional
	ShootReference ConcurrencyConfiguration `json:"shootReference,omitempty"`
	// ShootRetry configures the controller that retries shoots that failed because of rate limits.
	// +optional
	ShootRetry ServerShootRetryControllerConfiguration `json:"shootRetry,omitempty"`
	// ShootState configures the controller that protects the states of shoots that move to another seed.
	// +optional
	ShootState ConcurrencyConfiguration `json:"shootState,omitempty"`
	// ShootStatusLabel configures the controller that labels shoots with their health.
	// +optional
	ShootStatusLabel ConcurrencyConfiguration `json:"shootStatusLabel,omitempty"`
}

// Workers yields the concurrency settings of the sections that are set, with the name of each section in the file.
func (c *ServerControllerConfiguration) Workers() iter.Seq2[string, *ConcurrencyConfiguration] {
	return func(yield func(string, *ConcurrencyConfiguration) bool) {
		sections := reflect.ValueOf(c).Elem()
		for field, section := range sections.Fields() {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if section.Kind() == reflect.Pointer {
				if section.IsNil() {
					continue
				}
				section = section.Elem()
			}
			if section.Kind() != reflect.Struct {
				continue
			}
			if embedded := section.FieldByName("ConcurrencyConfiguration"); embedded.IsValid() {
				section = embedded
			}
			if workers, ok := reflect.TypeAssert[*ConcurrencyConfiguration](section.Addr()); ok && !yield(name, workers) {
				return
			}
		}
	}
}

// ConcurrencyConfiguration sets the pace of a controller.
type ConcurrencyConfiguration struct {
	// ConcurrentSyncs is the number of workers. Defaults to 5.
	// +optional
	ConcurrentSyncs *int `json:"concurrentSyncs,omitempty"`
}

// ServerBastionControllerConfiguration configures the controller that deletes bastions.
type ServerBastionControllerConfiguration struct {
	ConcurrencyConfiguration `json:",inline"`

	// MaxLifetime is how long a bastion exists at most, even if it is kept alive. Defaults to 24h.
	// +optional
	MaxLifetime *metav1.Duration `json:"maxLifetime,omitempty"`
}

// ServerEventControllerConfiguration configures the controller of events.
type ServerEventControllerConfiguration struct {
	ConcurrencyConfiguration `json:",inline"`

	// TTLNonShootEvents is how long an event that is not about a Shoot is kept after it happened last. It cannot be longer
	// than eventTTL. Defaults to 1h.
	// +optional
	TTLNonShootEvents *metav1.Duration `json:"ttlNonShootEvents,omitempty"`
}

// ServerGardenCareConfiguration says how the health of the garden is written into its Garden.
type ServerGardenCareConfiguration struct {
	// SyncPeriod is the time between two looks at the health of the garden. Defaults to 1m.
	// +optional
	SyncPeriod *metav1.Duration `json:"syncPeriod,omitempty"`
	// ConditionThresholds say how long a condition is Progressing before it turns False; it changes immediately when none is
	// given.
	// +optional
	ConditionThresholds []ConditionThreshold `json:"conditionThresholds,omitempty"`
}

// ServerManagedSeedSetControllerConfiguration configures the controller of managed seed sets.
type ServerManagedSeedSetControllerConfiguration struct {
	ConcurrencyConfiguration `json:",inline"`

	// MaxShootRetries is how often the failed reconciliation or deletion of the shoot of a replica is retried. Defaults to 3.
	// +optional
	MaxShootRetries *int `json:"maxShootRetries,omitempty"`
	// SyncPeriod is the time between two checks of a set. Defaults to 30m.
	// +optional
	SyncPeriod *metav1.Duration `json:"syncPeriod,omitempty"`
}

// ServerPlantControllerConfiguration configures the controller that looks at the clusters of plants.
type ServerPlantControllerConfiguration struct {
	ConcurrencyConfiguration `json:",inline"`

	// SyncPeriod is the time between two looks at a cluster. Defaults to 30s.
	// +optional
	SyncPeriod *metav1.Duration `json:"syncPeriod,omitempty"`
	// BlockedNetworks are networks, such as 10.0.0.0/8, in which no cluster of a plant is looked for. The addresses of this
	// machine, those that only it reaches, and the networks of nodes, pods and services of seeds are always blocked.
	// +optional
	BlockedNetworks []string `json:"blockedNetworks,omitempty"`
}

// ServerProjectControllerConfiguration configures the controllers of projects.
type ServerProjectControllerConfiguration struct {
	ConcurrencyConfiguration `json:",inline"`

	// MinimumLifetimeDays is the number of days for which a project is not stale after its creation and after something last
	// happened in it. Defaults to 30.
	// +optional
	MinimumLifetimeDays *int `json:"minimumLifetimeDays,omitempty"`
	// Quotas are the resource quotas of project namespaces. The first one whose selector matches a project applies; a project
	// that none matches has no quota. Defaults to one that limits the number of objects of each project; an empty list disables
	// quotas.
	// +optional
	Quotas []QuotaConfiguration `json:"quotas,omitempty"`
	// StaleExpirationTimeDays is the number of days after which a stale project is deleted. Defaults to 90.
	// +optional
	StaleExpirationTimeDays *int `json:"staleExpirationTimeDays,omitempty"`
	// StaleGracePeriodDays is the number of days for which a project is stale before it is announced when it will be deleted.
	// Defaults to 14.
	// +optional
	StaleGracePeriodDays *int `json:"staleGracePeriodDays,omitempty"`
	// StaleSyncPeriod is the time between two checks whether a project is stale. Defaults to 12h.
	// +optional
	StaleSyncPeriod *metav1.Duration `json:"staleSyncPeriod,omitempty"`
}

// QuotaConfiguration is the resource quota of some projects.
type QuotaConfiguration struct {
	// Config is the quota: its labels, annotations and spec.hard. A value that a quota already has is not changed, so that it
	// can be raised for one project.
	Config corev1.ResourceQuota `json:"config"`
	// ProjectSelector selects the projects by their labels; all when unset.
	// +optional
	ProjectSelector *metav1.LabelSelector `json:"projectSelector,omitempty"`
}

// ServerSeedControllerConfiguration configures the controllers of seeds.
type ServerSeedControllerConfiguration struct {
	ConcurrencyConfiguration `json:",inline"`

	// MonitorPeriod is how long a gardenlet may fail to renew its lease before the readiness of its seed, or of its
	// self-hosted shoot, becomes unknown. Defaults to 40s.
	// +optional
	MonitorPeriod *metav1.Duration `json:"monitorPeriod,omitempty"`
	// ShootMonitorPeriod is how long a gardenlet may fail to renew its lease before the conditions of its shoots turn Unknown.
	// Defaults to 3m20s.
	// +optional
	ShootMonitorPeriod *metav1.Duration `json:"shootMonitorPeriod,omitempty"`
	// SyncPeriod is the interval between two checks of the lease of a seed. Defaults to 10s.
	// +optional
	SyncPeriod *metav1.Duration `json:"syncPeriod,omitempty"`
}

// ServerSeedCheckConfiguration configures a controller that checks the health of objects that belong to seeds.
type ServerSeedCheckConfiguration struct {
	ConcurrencyConfiguration `json:",inline"`

	// SyncPeriod is the time between two checks of a seed. Defaults to 30s.
	// +optional
	SyncPeriod *metav1.Duration `json:"syncPeriod,omitempty"`
	// ConditionThresholds say how long a condition is Progressing before it turns False or Unknown; it changes immediately when
	// none is given.
	// +optional
	ConditionThresholds []ConditionThreshold `json:"conditionThresholds,omitempty"`
}

// ServerShootQuotaControllerConfiguration configures the controller of the lifetimes of shoots.
type ServerShootQuotaControllerConfiguration struct {
	ConcurrencyConfiguration `json:",inline"`

	// SyncPeriod is the time between two checks of a shoot. Defaults to 1h.
	// +optional
	SyncPeriod *metav1.Duration `json:"syncPeriod,omitempty"`
}

// ServerShootRetryControllerConfiguration configures the controller that retries shoots.
type ServerShootRetryControllerConfiguration struct {
	ConcurrencyConfiguration `json:",inline"`

	// RetryPeriod is the time between a failure and the retry. Defaults to 10m.
	// +optional
	RetryPeriod *metav1.Duration `json:"retryPeriod,omitempty"`
	// RetryJitterPeriod is the longest random time by which a retry is later, so that not all shoots are retried at once.
	// Defaults to 5m.
	// +optional
	RetryJitterPeriod *metav1.Duration `json:"retryJitterPeriod,omitempty"`
}

// ServerShootHibernationConfiguration configures the controller of hibernation schedules.
type ServerShootHibernationConfiguration struct {
	ConcurrencyConfiguration `json:",inline"`

	// TriggerDeadlineDuration is how late a schedule may still be carried out, if it could not be in time. Defaults to 2h.
	// +optional
	TriggerDeadlineDuration *metav1.Duration `json:"triggerDeadlineDuration,omitempty"`
}

// ServerShootMaintenanceConfiguration configures the controller of maintenance.
type ServerShootMaintenanceConfiguration struct {
	ConcurrencyConfiguration `json:",inline"`

	// EnableShootControlPlaneRestarter restarts, in every maintenance, the pods of control planes that ask for it. Defaults to
	// true.
	// +optional
	EnableShootControlPlaneRestarter *bool `json:"enableShootControlPlaneRestarter,omitempty"`
	// EnableShootCoreAddonRestarter restarts the DNS servers of clusters in every maintenance. Defaults to false.
	// +optional
	EnableShootCoreAddonRestarter *bool `json:"enableShootCoreAddonRestarter,omitempty"`
}
