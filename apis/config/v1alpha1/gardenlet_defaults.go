// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"maps"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	defaultLogLevel = "info"

	gatewayName             = "istio-ingressgateway"
	gatewayNamespace        = "istio-ingress"
	handlerNamespacePrefix  = "istio-ingress-handler-"
	gardenletLeaderElection = "gardenlet-leader-election"
	gardenNamespace         = "garden"
)

// SetDefaults fills every field that was left out and has a default.
func (c *GardenletConfiguration) SetDefaults() {
	garden := ensure(&c.GardenClientConnection)
	garden.setDefaults()
	validity := ensure(&garden.KubeconfigValidity)
	setDefault(&validity.AutoRotationJitterPercentageMin, 70)
	setDefault(&validity.AutoRotationJitterPercentageMax, 90)
	ensure(&c.SeedClientConnection).setDefaults()
	ensure(&c.ShootClientConnection).setDefaults()

	ensure(&c.Controllers).setDefaults()
	ensure(&c.LeaderElection).setDefaults(gardenletLeaderElection, gardenNamespace)
	setZero(&c.LogLevel, defaultLogLevel)
	setZero(&c.LogFormat, "json")
	setZero(&ensure(&c.Server.HealthProbes).Port, 2728)
	setZero(&ensure(&c.Server.Metrics).Port, 2729)

	ensure(&c.Logging).setDefaults()
	ensure(&ensure(&c.SNI).Ingress).setDefaults(gatewayNamespace,
		map[string]string{"app": gatewayName, "istio": "ingressgateway"})
	ensure(&c.ETCDConfig).setDefaults()

	for i := range c.ExposureClassHandlers {
		handler := &c.ExposureClassHandlers[i]
		if sni := ensure(&handler.SNI); sni.Ingress != nil {
			sni.Ingress.setDefaults(handlerNamespacePrefix+handler.Name,
				map[string]string{"app": gatewayName, "gardener.cloud/role": "exposureclass-handler"})
		}
	}

	setDefault(&ensure(&ensure(&c.Monitoring).Shoot).Enabled, true)
}

func (c *ClientConnectionConfiguration) setDefaults() {
	setZero(&c.QPS, 50)
	setZero(&c.Burst, 100)
}

func (c *LeaderElectionConfiguration) setDefaults(name, namespace string) {
	setDefault(&c.LeaderElect, true)
	setZero(&c.LeaseDuration, metav1.Duration{Duration: 15 * time.Second})
	setZero(&c.RenewDeadline, metav1.Duration{Duration: 10 * time.Second})
	setZero(&c.RetryPeriod, metav1.Duration{Duration: 2 * time.Second})
	setZero(&c.ResourceLock, "leases")
	setZero(&c.ResourceName, name)
	setZero(&c.ResourceNamespace, namespace)
}

func (c *GardenletControllerConfiguration) setDefaults() {
	const workers, fewWorkers = 20, 5

	setDuration(&c.CacheSyncTimeout, 2*time.Minute)
	setDefault(&ensure(&c.BackupBucket).ConcurrentSyncs, workers)
	ensure(&c.BackupEntry).setDefaults(workers)
	setDefault(&ensure(&c.Bastion).ConcurrentSyncs, workers)
	setDefault(&ensure(&c.ControllerInstallation).ConcurrentSyncs, workers)
	setDefault(&ensure(&c.ControllerInstallationCare).ConcurrentSyncs, workers)
	setPeriod(&c.ControllerInstallationCare.SyncPeriod, 30*time.Second)
	setDefault(&ensure(&c.ControllerInstallationRequired).ConcurrentSyncs, 1)
	setDuration(&ensure(&c.Gardenlet).SyncPeriod, time.Hour)

	setPeriod(&ensure(&c.Seed).SyncPeriod, time.Minute)
	setDefault(&c.Seed.LeaseResyncSeconds, 2)
	setDefault(&c.Seed.LeaseResyncMissThreshold, 10)
	setPeriod(&ensure(&c.SeedCare).SyncPeriod, 30*time.Second)

	ensure(&c.Shoot).setDefaults(workers)
	ensure(&c.ShootCare).setDefaults(workers)
	setDefault(&ensure(&c.ShootState).ConcurrentSyncs, fewWorkers)
	setPeriod(&c.ShootState.SyncPeriod, 6*time.Hour)
	setDefault(&ensure(&c.ShootStatus).ConcurrentSyncs, fewWorkers)
	setDefault(&ensure(&c.NetworkPolicy).ConcurrentSyncs, fewWorkers)
	ensure(&c.ManagedSeed).setDefaults(workers)

	setDefault(&ensure(&c.TokenRequestorServiceAccount).ConcurrentSyncs, fewWorkers)
	setDefault(&ensure(&c.TokenRequestorWorkloadIdentity).ConcurrentSyncs, fewWorkers)
	setDuration(&c.TokenRequestorWorkloadIdentity.TokenExpirationDuration, 6*time.Hour)
	setDefault(&ensure(&c.VPAEvictionRequirements).ConcurrentSyncs, fewWorkers)
}

func (c *BackupEntryControllerConfiguration) setDefaults(workers int) {
	setDefault(&c.ConcurrentSyncs, workers)
	setDefault(&c.DeletionGracePeriodHours, 0)

	// A negative period would delete backups before their shoot.
	if *c.DeletionGracePeriodHours < 0 {
		*c.DeletionGracePeriodHours = 0
	}
}

func (c *ShootControllerConfiguration) setDefaults(workers int) {
	setDefault(&c.ConcurrentSyncs, workers)
	setDefault(&c.ReconcileInMaintenanceOnly, false)
	setDefault(&c.RespectSyncPeriodOverwrite, false)
	setDuration(&c.RetryDuration, 12*time.Hour)
	setDuration(&c.SyncPeriod, time.Hour)
	setDefault(&c.DNSEntryTTLSeconds, 120)
}

func (c *ShootCareControllerConfiguration) setDefaults(workers int) {
	setDefault(&c.ConcurrentSyncs, workers)
	setPeriod(&c.SyncPeriod, time.Minute)

	if c.StaleExtensionHealthChecks == nil {
		c.StaleExtensionHealthChecks = &StaleExtensionHealthChecks{Enabled: true}
	}

	setDuration(&c.StaleExtensionHealthChecks.Threshold, 5*time.Minute)
}

func (c *ManagedSeedControllerConfiguration) setDefaults(workers int) {
	setDefault(&c.ConcurrentSyncs, workers)
	setDuration(&c.SyncPeriod, time.Hour)
	setDuration(&c.WaitSyncPeriod, 15*time.Second)
	setDuration(&c.SyncJitterPeriod, 5*time.Minute)
	setDefault(&c.JitterUpdates, false)
}

func (c *Logging) setDefaults() {
	storage := resource.MustParse("100Gi")

	setDefault(&c.Enabled, false)
	setDefault(&ensure(&c.Vali).Enabled, *c.Enabled)
	setDefault(&ensure(&c.Vali.Garden).Storage, storage)
	setDefault(&ensure(&c.VictoriaLogs).Enabled, *c.Enabled)
	setDefault(&ensure(&c.VictoriaLogs.Garden).Storage, storage)
	setDefault(&ensure(&c.ShootEventLogging).Enabled, *c.Enabled)
}

func (c *SNIIngress) setDefaults(namespace string, labels map[string]string) {
	setDefault(&c.ServiceName, gatewayName)
	setDefault(&c.Namespace, namespace)

	if c.Labels == nil {
		c.Labels = maps.Clone(labels)
	}
}

func (c *ETCDConfig) setDefaults() {
	setDefault(&ensure(&c.ETCDController).Workers, 50)
	setDefault(&ensure(&c.CustodianController).Workers, 10)

	compaction := ensure(&c.BackupCompactionController)
	setDefault(&compaction.Workers, 3)
	setDefault(&compaction.EnableBackupCompaction, false)
	setDefault(&compaction.EventsThreshold, 1_000_000)
	setDuration(&compaction.MetricsScrapeWaitDuration, time.Minute)
}
