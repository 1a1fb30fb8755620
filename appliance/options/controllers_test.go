// SPDX-License-Identifier: Apache-2.0

package options_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/options"
)

func TestValidateControllers(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		file   string
		want   []string
	}{
		"good": {
			reason: "quotas and thresholds as an operator writes them",
			want:   []string{},
			file: `controllers:
  project: {quotas: [{config: {spec: {hard: {count/configmaps: "1000"}}}, projectSelector: {matchLabels: {tier: silver}}}, {config: {spec: {hard: {count/secrets: "1"}}}}]}
  seedExtensionsCheck: {syncPeriod: 10s, conditionThresholds: [{type: ExtensionsReady, duration: 1m}]}
  seedBackupBucketsCheck: {conditionThresholds: [{type: BackupBucketsReady, duration: 1m}]}
  gardenCare: {syncPeriod: 30s, conditionThresholds: [{type: RuntimeComponentsHealthy, duration: 1m}]}
`,
		},
		"care": {
			reason: "a Garden has no such condition, and cannot be looked at that often",
			file: `controllers: {gardenCare: {syncPeriod: 1ms, conditionThresholds: [{type: EveryNodeReady, duration: 1m}]}}
`,
			want: []string{
				"controllers.gardenCare.syncPeriod: 1ms is not between 1s and 1h",
				`controllers.gardenCare.conditionThresholds[0].type: "EveryNodeReady" is not VirtualGardenAPIServerAvailable, RuntimeComponentsHealthy, VirtualComponentsHealthy, ObservabilityComponentsHealthy or ObjectsHealthy`,
			},
		},
		"quotas": {
			reason: "a quota that bounds nothing, a negative one and a selector that nobody can read",
			file: `controllers:
  project: {quotas: [{config: {}}, {config: {spec: {hard: {pods: "-1"}}}, projectSelector: {matchExpressions: [{key: a, operator: Nope}]}}]}
`,
			want: []string{
				"controllers.project.quotas[0].config.spec.hard: must name a resource, such as count/configmaps",
				`controllers.project.quotas[1].projectSelector: "Nope" is not a valid label selector operator`,
				"controllers.project.quotas[1].config.spec.hard.pods: -1 is negative",
			},
		},
		"events": {
			reason: "all events go after eventTTL, so others cannot be kept for longer",
			file: `eventTTL: 30m
controllers: {event: {}}
`,
			want: []string{"controllers.event.ttlNonShootEvents: 1h0m0s is not between 1s and 30m"},
		},
		"events for too long": {
			reason: "events are no archive",
			file: `eventTTL: 200h
controllers: {event: {concurrentSyncs: 0, ttlNonShootEvents: 10h}}
`,
			want: []string{"eventTTL: 200h0m0s is not between 1m and 168h", "controllers.event.concurrentSyncs: 0 is less than 1"},
		},
		"schedules": {
			reason: "a schedule of last month is none",
			file: `controllers: {shootHibernation: {triggerDeadlineDuration: 700h}, shootMaintenance: {concurrentSyncs: 0}}
`,
			want: []string{
				"controllers.shootMaintenance.concurrentSyncs: 0 is less than 1",
				"controllers.shootHibernation.triggerDeadlineDuration: 700h0m0s is not between 1m and 168h",
			},
		},
		"checks": {
			reason: "a threshold for a condition that the controller does not set would have no effect",
			file: `controllers:
  seedExtensionsCheck: {concurrentSyncs: 0, syncPeriod: 1ms, conditionThresholds: [{type: BackupBucketsReady, duration: -1m}]}
`,
			want: []string{
				"controllers.seedExtensionsCheck.concurrentSyncs: 0 is less than 1",
				"controllers.seedExtensionsCheck.syncPeriod: 1ms is not between 1s and 1h",
				`controllers.seedExtensionsCheck.conditionThresholds[0].type: "BackupBucketsReady" is not ExtensionsReady`,
				"controllers.seedExtensionsCheck.conditionThresholds[0].duration: -1m0s is not between 0s and 24h",
			},
		},
		"stale projects": {
			reason: "nobody would be told before a project is deleted",
			file: `controllers:
  project: {minimumLifetimeDays: -1, staleGracePeriodDays: 40000, staleExpirationTimeDays: 10, staleSyncPeriod: 1s}
`,
			want: []string{
				"controllers.project.minimumLifetimeDays: -1 is not between 0 and 36500",
				"controllers.project.staleGracePeriodDays: 40000 is not between 0 and 36500",
				"controllers.project.staleExpirationTimeDays: 10 is not more than staleGracePeriodDays, 40000: projects would be deleted without a warning",
				"controllers.project.staleSyncPeriod: 1s is not between 1m and 168h",
			},
		},
		"shoots": {
			reason: "neither all the time nor never",
			file: `controllers:
  shootQuota: {syncPeriod: 1ms}
  shootRetry: {retryPeriod: 0s, retryJitterPeriod: -1s}
`,
			want: []string{
				"controllers.shootQuota.syncPeriod: 1ms is not between 1s and 24h",
				"controllers.shootRetry.retryPeriod: 0s is not between 1s and 24h",
				"controllers.shootRetry.retryJitterPeriod: -1s is not between 0s and 24h",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := gardenconfigv1alpha1.DecodeServerConfiguration([]byte(header + tc.file))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, texts(options.ValidateServer(c))); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
