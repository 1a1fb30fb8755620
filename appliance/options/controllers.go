// SPDX-License-Identifier: Apache-2.0

package options

import (
	"errors"
	"fmt"
	"net/netip"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenoperatorv1alpha1 "github.com/terrarium-garden/terrarium/apis/operator/v1alpha1"
)

func checkControllers(c *gardenconfigv1alpha1.ServerControllerConfiguration, check func(flag, path string, err error)) {
	for section, workers := range c.Workers() {
		check("", "controllers."+section+".concurrentSyncs", positive(workers.ConcurrentSyncs))
	}
	check("", "controllers.bastion.maxLifetime", within(c.Bastion.MaxLifetime, time.Second, 365*24*time.Hour))
	check("", "controllers.cacheSyncTimeout", within(c.CacheSyncTimeout, time.Second, time.Hour))
	checkGardenCare(&c.GardenCare, check)
	check("", "controllers.managedSeedSet.maxShootRetries", notNegative(c.ManagedSeedSet.MaxShootRetries))
	check("", "controllers.managedSeedSet.syncPeriod", within(c.ManagedSeedSet.SyncPeriod, time.Second, 24*time.Hour))
	check("", "controllers.plant.syncPeriod", within(c.Plant.SyncPeriod, time.Second, time.Hour))
	for i, network := range c.Plant.BlockedNetworks {
		_, err := netip.ParsePrefix(network)
		check("", fmt.Sprintf("controllers.plant.blockedNetworks[%d]", i), err)
	}
	check("", "controllers.seed.monitorPeriod", within(c.Seed.MonitorPeriod, time.Second, 24*time.Hour))
	check("", "controllers.seed.shootMonitorPeriod", within(c.Seed.ShootMonitorPeriod, time.Second, 24*time.Hour))
	check("", "controllers.seed.syncPeriod", within(c.Seed.SyncPeriod, 100*time.Millisecond, time.Hour))
	checkSeedCheck("controllers.seedBackupBucketsCheck", &c.SeedBackupBucketsCheck, gardencorev1beta1.ConditionTypeBackupBucketsReady, check)
	checkSeedCheck("controllers.seedExtensionsCheck", &c.SeedExtensionsCheck, gardencorev1beta1.ConditionTypeExtensionsReady, check)
	checkStale(&c.Project, check)
	check("", "controllers.shootQuota.syncPeriod", within(c.ShootQuota.SyncPeriod, time.Second, 24*time.Hour))
	check("", "controllers.shootRetry.retryPeriod", within(c.ShootRetry.RetryPeriod, time.Second, 24*time.Hour))
	check("", "controllers.shootRetry.retryJitterPeriod", within(c.ShootRetry.RetryJitterPeriod, 0, 24*time.Hour))
	check("", "controllers.shootHibernation.triggerDeadlineDuration", within(c.ShootHibernation.TriggerDeadlineDuration, time.Minute, 7*24*time.Hour))
	for i := range c.Project.Quotas {
		path := fmt.Sprintf("controllers.project.quotas[%d]", i)
		_, err := metav1.LabelSelectorAsSelector(c.Project.Quotas[i].ProjectSelector)
		check("", path+".projectSelector", err)
		if len(c.Project.Quotas[i].Config.Spec.Hard) == 0 {
			check("", path+".config.spec.hard", errors.New("must name a resource, such as count/configmaps"))
		}
		for name, quantity := range c.Project.Quotas[i].Config.Spec.Hard {
			if quantity.Sign() < 0 {
				check("", path+".config.spec.hard."+string(name), fmt.Errorf("%s is negative", quantity.String()))
			}
		}
	}
}

// checkStale checks that those who still need a project are told before it is deleted.
func checkStale(c *gardenconfigv1alpha1.ServerProjectControllerConfiguration, check func(flag, path string, err error)) {
	const century = 36500
	ofDays := func(name string, days *int) {
		if days != nil && (*days < 0 || *days > century) {
			check("", "controllers.project."+name, fmt.Errorf("%d is not between 0 and %d", *days, century))
		}
	}
	ofDays("minimumLifetimeDays", c.MinimumLifetimeDays)
	ofDays("staleExpirationTimeDays", c.StaleExpirationTimeDays)
	ofDays("staleGracePeriodDays", c.StaleGracePeriodDays)
	if grace, expiration := c.StaleGracePeriodDays, c.StaleExpirationTimeDays; grace != nil && expiration != nil && *expiration <= *grace {
		check("", "controllers.project.staleExpirationTimeDays",
			fmt.Errorf("%d is not more than staleGracePeriodDays, %d: projects would be deleted without a warning", *expiration, *grace))
	}
	check("", "controllers.project.staleSyncPeriod", within(c.StaleSyncPeriod, time.Minute, 7*24*time.Hour))
}

// checkGardenCare checks that thresholds are for conditions of the Garden. Others would have no effect.
func checkGardenCare(c *gardenconfigv1alpha1.ServerGardenCareConfiguration, check func(flag, path string, err error)) {
	const path = "controllers.gardenCare"
	check("", path+".syncPeriod", within(c.SyncPeriod, time.Second, time.Hour))
	for i := range c.ConditionThresholds {
		t := c.ConditionThresholds[i]
		at := fmt.Sprintf("%s.conditionThresholds[%d]", path, i)
		check("", at+".type", oneOf(t.Type, gardenoperatorv1alpha1.ConditionTypes()))
		check("", at+".duration", within(&t.Duration, 0, 24*time.Hour))
	}
}

// checkSeedCheck checks that thresholds are for the condition that the controller sets. Others would have no effect.
func checkSeedCheck(
	path string, c *gardenconfigv1alpha1.ServerSeedCheckConfiguration, condition gardencorev1beta1.ConditionType,
	check func(flag, path string, err error),
) {
	check("", path+".syncPeriod", within(c.SyncPeriod, time.Second, time.Hour))
	for i := range c.ConditionThresholds {
		t := c.ConditionThresholds[i]
		at := fmt.Sprintf("%s.conditionThresholds[%d]", path, i)
		check("", at+".type", oneOf(t.Type, []string{string(condition)}))
		check("", at+".duration", within(&t.Duration, 0, 24*time.Hour))
	}
}
