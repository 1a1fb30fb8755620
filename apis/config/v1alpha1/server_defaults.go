// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

const (
	defaultDataDir = "/var/lib/terrarium"
	defaultListen  = ":6443"

	defaultMinTokenLifetime = time.Hour
	defaultMaxTokenLifetime = 48 * time.Hour

	defaultBastionLifetime     = 24 * time.Hour
	defaultEventTTL            = time.Hour
	defaultTimelineKeep        = 30 * 24 * time.Hour
	defaultTimelineBytes       = 256 << 20
	defaultSnapshotInterval    = 12 * time.Hour
	defaultIncrementInterval   = 30 * time.Second
	defaultSnapshotWindow      = 24 * time.Hour
	defaultAuditAge            = 30 * 24 * time.Hour
	defaultAuditBytes          = 256 << 20
	defaultServiceAccountToken = 90 * 24 * time.Hour
	defaultProjectsOfUser      = 100
)

// SetDefaults fills every field that was left out and has a default.
func (c *ServerConfiguration) SetDefaults() {
	setZero(&c.DataDir, defaultDataDir)
	setZero(&c.Listen, defaultListen)
	setZero(&c.LogLevel, defaultLogLevel)
	setZero(&c.LogFormat, "text")
	setDuration(&c.EventTTL, defaultEventTTL)
	setDuration(&c.Timeline.Keep, defaultTimelineKeep)
	if c.Timeline.MaxSize == nil {
		c.Timeline.MaxSize = resource.NewQuantity(defaultTimelineBytes, resource.BinarySI)
	}
	setDuration(&c.Snapshots.Interval, defaultSnapshotInterval)
	setDuration(&c.Snapshots.IncrementInterval, defaultIncrementInterval)
	setDefault(&c.Snapshots.Keep, 5)
	setDuration(&c.Snapshots.Window, defaultSnapshotWindow)
	setDuration(&c.Audit.MaxAge, defaultAuditAge)
	if c.Audit.MaxSize == nil {
		c.Audit.MaxSize = resource.NewQuantity(defaultAuditBytes, resource.BinarySI)
	}
	setDuration(&c.Tokens.DefaultLifetime, time.Hour)
	setDuration(&c.Tokens.MaxServiceAccountTokenLifetime, defaultServiceAccountToken)
	setDefault(&c.Projects.MaxPerUser, defaultProjectsOfUser)
	setDuration(&c.Certificates.ClientLifetime, 365*24*time.Hour)
	c.Controllers.setDefaults()
	c.Shoots.setDefaults()
	c.WorkloadIdentity.setDefaults()
	c.OIDC.setDefaults()
	setDefault(&c.Scheduler.ConcurrentSyncs, 5)
	if strategy := &c.Scheduler.CandidateDeterminationStrategy; *strategy == "" || *strategy == candidateDeterminationStrategyDefault {
		*strategy = CandidateDeterminationStrategySameRegion
	}
	setDefault(&c.Admission.ResourceSize, defaultResourceSize())
	if size := c.Admission.ResourceSize; size != nil {
		setZero(&size.OperationMode, ResourceSizeModeBlock)
		for i := range size.UnrestrictedSubjects {
			setSubject(&size.UnrestrictedSubjects[i])
		}
	}
}

// defaultResourceSize limits the size of the objects in projects, far above what users need, so that no user can fill the
// store of the garden, or its memory, where all objects are. Gardenlets and the server itself have no limits, because they add to objects
// of users that are near the limit (GAC-SIZE-6).
func defaultResourceSize() ResourceSizeConfiguration {
	limit := func(size int64, group string, resources ...string) ResourceLimit {
		return ResourceLimit{
			APIGroups: []string{group}, APIVersions: []string{"*"}, Resources: resources, Size: resource.NewQuantity(size, resource.BinarySI),
		}
	}
	const large, medium, small, secrets = 512 << 10, 128 << 10, 64 << 10, 32 << 20

	return ResourceSizeConfiguration{
		Limits: []ResourceLimit{
			limit(large, "core.gardener.cloud", "namespacedcloudprofiles", "projects", "shoots"),
			limit(medium, "rbac.authorization.k8s.io", "roles", "rolebindings"),
			limit(medium, "", "configmaps"),
			limit(small, "core.gardener.cloud", "plants", "quotas", "secretbindings"),
			limit(small, "operations.gardener.cloud", "bastions"),
			limit(small, "security.gardener.cloud", "credentialsbindings", "workloadidentities"),
			limit(small, "settings.gardener.cloud", "openidconnectpresets"),
			limit(small, "", "serviceaccounts"),
			{
				APIGroups: []string{""}, APIVersions: []string{"*"}, Resources: []string{"secrets"},
				TotalSize: resource.NewQuantity(secrets, resource.BinarySI),
			},
		},
		UnrestrictedSubjects: []rbacv1.Subject{
			{Kind: rbacv1.GroupKind, Name: "gardener.cloud:system:seeds"},
			{Kind: rbacv1.UserKind, Name: "system:apiserver"},
		},
	}
}

// defaultProjectQuotas limits the number of objects in a project, far above what a project needs, so that no member of a
// project can fill the store of the garden. Each shoot has about ten Secrets. The objects that gardenlets create for a shoot
// are not limited separately.
func defaultProjectQuotas() []QuotaConfiguration {
	const shoots, secrets, configMaps, others = 100, 2000, 1000, 200

	hard := corev1.ResourceList{}
	count := func(n int64, resources ...string) {
		for _, name := range resources {
			hard[corev1.ResourceName("count/"+name)] = *resource.NewQuantity(n, resource.DecimalSI)
		}
	}
	count(shoots, "shoots.core.gardener.cloud")
	count(secrets, "secrets")
	count(configMaps, "configmaps")
	count(others, "serviceaccounts", "roles.rbac.authorization.k8s.io", "rolebindings.rbac.authorization.k8s.io",
		"namespacedcloudprofiles.core.gardener.cloud", "quotas.core.gardener.cloud", "secretbindings.core.gardener.cloud",
		"credentialsbindings.security.gardener.cloud", "workloadidentities.security.gardener.cloud",
		"bastions.operations.gardener.cloud", "openidconnectpresets.settings.gardener.cloud", "plants.core.gardener.cloud")

	return []QuotaConfiguration{{Config: corev1.ResourceQuota{Spec: corev1.ResourceQuotaSpec{Hard: hard}}}}
}

// setSubject fills in the API group of users and groups (GAC-SIZE-5).
func setSubject(s *rbacv1.Subject) {
	if s.Kind == rbacv1.UserKind || s.Kind == rbacv1.GroupKind {
		setZero(&s.APIGroup, rbacv1.GroupName)
	}
}

func (c *ServerControllerConfiguration) setDefaults() {
	const workers = 5

	for _, controller := range c.Workers() {
		setDefault(&controller.ConcurrentSyncs, workers)
	}
	for _, check := range []*ServerSeedCheckConfiguration{&c.SeedBackupBucketsCheck, &c.SeedExtensionsCheck} {
		setDuration(&check.SyncPeriod, 30*time.Second)
	}
	setDuration(&c.Bastion.MaxLifetime, defaultBastionLifetime)
	setDuration(&c.CacheSyncTimeout, 2*time.Minute)

	if c.Event != nil {
		setDuration(&c.Event.TTLNonShootEvents, defaultEventTTL)
	}
	setDuration(&c.GardenCare.SyncPeriod, time.Minute)
	setDefault(&c.ManagedSeedSet.MaxShootRetries, 3)
	setDuration(&c.ManagedSeedSet.SyncPeriod, 30*time.Minute)
	setDuration(&c.Plant.SyncPeriod, 30*time.Second)
	if c.Project.Quotas == nil {
		c.Project.Quotas = defaultProjectQuotas()
	}
	setDefault(&c.Project.MinimumLifetimeDays, 30)
	setDefault(&c.Project.StaleGracePeriodDays, 14)
	setDefault(&c.Project.StaleExpirationTimeDays, 90)
	setDuration(&c.Project.StaleSyncPeriod, 12*time.Hour)
	setDuration(&c.Seed.MonitorPeriod, 40*time.Second)
	setDuration(&c.Seed.ShootMonitorPeriod, 200*time.Second)
	setDuration(&c.Seed.SyncPeriod, 10*time.Second)
	setDuration(&c.ShootQuota.SyncPeriod, time.Hour)
	setDuration(&c.ShootRetry.RetryPeriod, 10*time.Minute)
	setDuration(&c.ShootRetry.RetryJitterPeriod, 5*time.Minute)
	setDuration(&c.ShootHibernation.TriggerDeadlineDuration, 2*time.Hour)
	setDefault(&c.ShootMaintenance.EnableShootControlPlaneRestarter, true)
	setDefault(&c.ShootMaintenance.EnableShootCoreAddonRestarter, false)
}
