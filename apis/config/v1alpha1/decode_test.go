// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
)

const (
	gardenletHeader = "apiVersion: gardenlet.config.gardener.cloud/v1alpha1\nkind: GardenletConfiguration\n"
	serverHeader    = "apiVersion: server.config.terrarium.garden/v1alpha1\nkind: ServerConfiguration\n"
)

func TestDecodeGardenletConfiguration(t *testing.T) {
	t.Parallel()

	for name, tc := range map[string]struct {
		reason string
		data   string
		want   func(*gardenconfigv1alpha1.GardenletConfiguration)
	}{
		"empty": {
			reason: "A file with nothing but its kind is the default configuration.",
			data:   gardenletHeader,
			want:   func(*gardenconfigv1alpha1.GardenletConfiguration) {},
		},
		"values win over defaults": {
			reason: "What is given is kept, also where it is zero, and its neighbours still get defaults.",
			data: gardenletHeader + `
controllers:
  shoot: {concurrentSyncs: 0, syncPeriod: 10m}
  shootCare: {staleExtensionHealthChecks: {threshold: 1m}}
gardenClientConnection:
  kubeconfigSecret: {name: gardenlet-kubeconfig, namespace: garden}
`,
			want: func(c *gardenconfigv1alpha1.GardenletConfiguration) {
				*c.Controllers.Shoot.ConcurrentSyncs = 0
				c.Controllers.Shoot.SyncPeriod.Duration = 10 * time.Minute
				c.Controllers.ShootCare.StaleExtensionHealthChecks.Enabled = false
				c.Controllers.ShootCare.StaleExtensionHealthChecks.Threshold.Duration = time.Minute
				c.GardenClientConnection.KubeconfigSecret = secretReference("garden", "gardenlet-kubeconfig")
			},
		},
		"logging inherits": {
			reason: "The stores of logs follow the switch for all of logging.",
			data:   gardenletHeader + "logging: {enabled: true, vali: {enabled: false}}\n",
			want: func(c *gardenconfigv1alpha1.GardenletConfiguration) {
				*c.Logging.Enabled = true
				*c.Logging.VictoriaLogs.Enabled = true
				*c.Logging.ShootEventLogging.Enabled = true
			},
		},
		"no period": {
			reason: "A check that never pauses is not what anybody wants.",
			data:   gardenletHeader + "controllers: {seed: {syncPeriod: 0s}, seedCare: {syncPeriod: -1s}, shootCare: {syncPeriod: 0s}, controllerInstallationCare: {syncPeriod: 0s}}\n",
			want:   func(*gardenconfigv1alpha1.GardenletConfiguration) {},
		},
		"negative grace period": {
			reason: "Backups must not go before their shoot.",
			data:   gardenletHeader + "controllers: {backupEntry: {deletionGracePeriodHours: -1}}\n",
			want:   func(*gardenconfigv1alpha1.GardenletConfiguration) {},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			want := &gardenconfigv1alpha1.GardenletConfiguration{TypeMeta: metav1.TypeMeta{
				APIVersion: "gardenlet.config.gardener.cloud/v1alpha1", Kind: "GardenletConfiguration",
			}}
			want.SetDefaults()
			tc.want(want)

			got, err := gardenconfigv1alpha1.DecodeGardenletConfiguration([]byte(tc.data))
			if err != nil {
				t.Fatalf("%s\nDecodeGardenletConfiguration(...): %v", tc.reason, err)
			}

			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s\nDecodeGardenletConfiguration(...) (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestDecodeGardenletConfigurationSeed(t *testing.T) {
	t.Parallel()

	got, err := gardenconfigv1alpha1.DecodeGardenletConfiguration([]byte(gardenletHeader + `
seedConfig:
  metadata: {name: local, labels: {environment: test}}
  spec:
    dns: {internal: {type: local, domain: internal.terrarium.local, credentialsRef: {kind: Secret, name: dns, namespace: garden}}}
    networks: {pods: 10.98.0.0/16, services: 10.97.0.0/16}
    provider: {type: local, region: local}
resources: {capacity: {shoots: 10}}
`))
	if err != nil {
		t.Fatalf("A seed in the file is decoded like the Seed kind itself: %v", err)
	}

	if got.SeedConfig.Name != "local" || got.SeedConfig.Spec.DNS.Internal.Domain != "internal.terrarium.local" {
		t.Errorf("The inlined seed has lost its name or its spec: %+v", got.SeedConfig)
	}

	if shoots := got.Resources.Capacity["shoots"]; shoots.Value() != 10 {
		t.Errorf("The capacity for shoots is %s, want 10", shoots.String())
	}
}

func TestDecodeProjectQuotas(t *testing.T) {
	t.Parallel()

	for file, want := range map[string]int{"": 1, "controllers: {project: {quotas: []}}": 0, "controllers: {project: {concurrentSyncs: 1}}": 1} {
		got, err := gardenconfigv1alpha1.DecodeServerConfiguration([]byte(serverHeader + file + "\n"))
		if err != nil {
			t.Fatal(err)
		}
		if quotas := got.Controllers.Project.Quotas; len(quotas) != want {
			t.Errorf("Projects have a quota unless the list is given and empty.\n%q gives %d quotas, want %d", file, len(quotas), want)
		}
	}
}

func TestDecodeServerConfiguration(t *testing.T) {
	t.Parallel()

	got, err := gardenconfigv1alpha1.DecodeServerConfiguration([]byte(serverHeader + `
dataDir: /srv/garden
externalAddresses: [garden.example.org]
scheduler: {candidateDeterminationStrategy: MinimalDistance}
controllers: {seed: {monitorPeriod: 5s}}
`))
	if err != nil {
		t.Fatalf("DecodeServerConfiguration(...): %v", err)
	}

	five := gardenconfigv1alpha1.ConcurrencyConfiguration{ConcurrentSyncs: new(5)}
	want := &gardenconfigv1alpha1.ServerConfiguration{
		TypeMeta: metav1.TypeMeta{
			APIVersion: "server.config.terrarium.garden/v1alpha1", Kind: "ServerConfiguration",
		},
		DataDir:           "/srv/garden",
		Listen:            ":6443",
		ExternalAddresses: []string{"garden.example.org"},
		LogLevel:          "info",
		LogFormat:         "text",
		EventTTL:          &metav1.Duration{Duration: time.Hour},
		Timeline: gardenconfigv1alpha1.TimelineConfiguration{
			Keep: &metav1.Duration{Duration: 720 * time.Hour}, MaxSize: new(resource.MustParse("256Mi")),
		},
		Snapshots: gardenconfigv1alpha1.SnapshotConfiguration{
			Interval: &metav1.Duration{Duration: 12 * time.Hour}, IncrementInterval: &metav1.Duration{Duration: 30 * time.Second},
			Keep: new(5), Window: &metav1.Duration{Duration: 24 * time.Hour},
		},
		Audit: gardenconfigv1alpha1.AuditConfiguration{
			MaxAge: &metav1.Duration{Duration: 720 * time.Hour}, MaxSize: new(resource.MustParse("256Mi")),
		},
		Tokens: gardenconfigv1alpha1.TokenConfiguration{
			DefaultLifetime: &metav1.Duration{Duration: time.Hour}, MaxServiceAccountTokenLifetime: &metav1.Duration{Duration: 2160 * time.Hour},
		},
		Certificates: gardenconfigv1alpha1.CertificateConfiguration{
			ClientLifetime: &metav1.Duration{Duration: 8760 * time.Hour},
		},
		Shoots: gardenconfigv1alpha1.ShootConfiguration{
			CredentialsRotationInterval: &metav1.Duration{Duration: 2160 * time.Hour},
			MaxKubeconfigLifetime:       &metav1.Duration{Duration: 24 * time.Hour},
		},
		Controllers: gardenconfigv1alpha1.ServerControllerConfiguration{
			Bastion: gardenconfigv1alpha1.ServerBastionControllerConfiguration{
				ConcurrencyConfiguration: five, MaxLifetime: &metav1.Duration{Duration: 24 * time.Hour},
			},
			CacheSyncTimeout:              &metav1.Duration{Duration: 2 * time.Minute},
			CertificateSigningRequest:     five,
			CloudProfile:                  five,
			ControllerDeployment:          five,
			ControllerDeploymentReference: five,
			ControllerRegistration:        five,
			CredentialsBinding:            five,
			ExposureClass:                 five,
			GardenCare:                    gardenconfigv1alpha1.ServerGardenCareConfiguration{SyncPeriod: &metav1.Duration{Duration: time.Minute}},
			ManagedSeedSet: gardenconfigv1alpha1.ServerManagedSeedSetControllerConfiguration{
				ConcurrencyConfiguration: five, MaxShootRetries: new(3), SyncPeriod: &metav1.Duration{Duration: 30 * time.Minute},
			},
			NamespacedCloudProfile: five,
			Project: gardenconfigv1alpha1.ServerProjectControllerConfiguration{
				ConcurrencyConfiguration: five,
				MinimumLifetimeDays:      new(30),
				StaleExpirationTimeDays:  new(90),
				StaleGracePeriodDays:     new(14),
				StaleSyncPeriod:          &metav1.Duration{Duration: 12 * time.Hour},
			},
			Plant: gardenconfigv1alpha1.ServerPlantControllerConfiguration{
				ConcurrencyConfiguration: five, SyncPeriod: &metav1.Duration{Duration: 30 * time.Second},
			},
			Quota:         five,
			SecretBinding: five,
			Seed: gardenconfigv1alpha1.ServerSeedControllerConfiguration{
				ConcurrencyConfiguration: five,
				MonitorPeriod:            &metav1.Duration{Duration: 5 * time.Second},
				ShootMonitorPeriod:       &metav1.Duration{Duration: 200 * time.Second},
				SyncPeriod:               &metav1.Duration{Duration: 10 * time.Second},
			},
			SeedBackupBucketsCheck: gardenconfigv1alpha1.ServerSeedCheckConfiguration{
				ConcurrencyConfiguration: five, SyncPeriod: &metav1.Duration{Duration: 30 * time.Second},
			},
			SeedExtensionsCheck: gardenconfigv1alpha1.ServerSeedCheckConfiguration{
				ConcurrencyConfiguration: five, SyncPeriod: &metav1.Duration{Duration: 30 * time.Second},
			},
			SeedReference:   five,
			ShootConditions: five,
			ShootMigration:  five,
			ShootQuota: gardenconfigv1alpha1.ServerShootQuotaControllerConfiguration{
				ConcurrencyConfiguration: five, SyncPeriod: &metav1.Duration{Duration: time.Hour},
			},
			ShootReference: five,
			ShootRetry: gardenconfigv1alpha1.ServerShootRetryControllerConfiguration{
				ConcurrencyConfiguration: five,
				RetryPeriod:              &metav1.Duration{Duration: 10 * time.Minute},
				RetryJitterPeriod:        &metav1.Duration{Duration: 5 * time.Minute},
			},
			ShootState: five,
			ShootHibernation: gardenconfigv1alpha1.ServerShootHibernationConfiguration{
				ConcurrencyConfiguration: five, TriggerDeadlineDuration: &metav1.Duration{Duration: 2 * time.Hour},
			},
			ShootMaintenance: gardenconfigv1alpha1.ServerShootMaintenanceConfiguration{
				ConcurrencyConfiguration: five, EnableShootControlPlaneRestarter: new(true), EnableShootCoreAddonRestarter: new(false),
			},
			ShootStatusLabel: five,
		},
		WorkloadIdentity: gardenconfigv1alpha1.WorkloadIdentityConfiguration{
			MinTokenLifetime: &metav1.Duration{Duration: time.Hour}, MaxTokenLifetime: &metav1.Duration{Duration: 48 * time.Hour},
		},
		Scheduler: gardenconfigv1alpha1.SchedulerConfiguration{
			ConcurrencyConfiguration:       five,
			CandidateDeterminationStrategy: "MinimalDistance",
		},
	}
	// Which limits these are is written in testdata.
	var defaults gardenconfigv1alpha1.ServerConfiguration
	defaults.SetDefaults()
	want.Admission = defaults.Admission
	want.Controllers.Project.Quotas = defaults.Controllers.Project.Quotas
	want.Projects.MaxPerUser = new(100)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Given values are kept, all others get their defaults (-want +got):\n%s", diff)
	}
}

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()

	gardenlet := func(data []byte) error {
		_, err := gardenconfigv1alpha1.DecodeGardenletConfiguration(data)

		return err
	}
	server := func(data []byte) error {
		_, err := gardenconfigv1alpha1.DecodeServerConfiguration(data)

		return err
	}

	for name, tc := range map[string]struct {
		reason string
		decode func([]byte) error
		data   string
		want   []string
	}{
		"unknown field": {
			reason: "The path of an unknown field is named.",
			decode: gardenlet,
			data:   gardenletHeader + "controllers: {shoot: {concurrentSync: 3}}\n",
			want:   []string{`unknown field "controllers.shoot.concurrentSync"`},
		},
		"wrong case": {
			reason: "Names are compared with their case, and the right one is proposed.",
			decode: server,
			data:   serverHeader + "datadir: /srv\n",
			want:   []string{`unknown field "datadir", did you mean "dataDir"`},
		},
		"field in a list": {
			reason: "A path leads through lists.",
			decode: gardenlet,
			data:   gardenletHeader + "exposureClassHandlers: [{name: a}, {name: b, loadbalancer: {}}]\n",
			want:   []string{`unknown field "exposureClassHandlers[1].loadbalancer"`},
		},
		"field of the inlined seed": {
			reason: "The Seed in the file is checked like the rest.",
			decode: gardenlet,
			data:   gardenletHeader + "seedConfig: {spec: {networks: {podz: 10.0.0.0/8}}}\n",
			want:   []string{`unknown field "seedConfig.spec.networks.podz"`},
		},
		"wrong type": {
			reason: "The path, the value and the wanted type are named.",
			decode: gardenlet,
			data:   gardenletHeader + "controllers: {shoot: {concurrentSyncs: many}}\n",
			want:   []string{`field "controllers.shoot.concurrentSyncs": got "many", want a whole number`},
		},
		"wrong duration": {
			reason: "Durations decode themselves, and their path is named all the same.",
			decode: server,
			data:   serverHeader + "controllers: {seed: {monitorPeriod: soon}}\n",
			want:   []string{`field "controllers.seed.monitorPeriod": got "soon", want a duration such as 30s`},
		},
		"wrong quantity in a map": {
			reason: "The key of a map is part of the path.",
			decode: gardenlet,
			data:   gardenletHeader + "resources: {capacity: {shoots: lots}}\n",
			want:   []string{`field "resources.capacity[shoots]": got "lots", want a quantity such as 100Gi`},
		},
		"object instead of a list": {
			reason: "A list cannot be an object.",
			decode: server,
			data:   serverHeader + "externalAddresses: {a: b}\n",
			want:   []string{`field "externalAddresses": got {"a":"b"}, want a list`},
		},
		"value instead of an object": {
			reason: "An object cannot be a value.",
			decode: server,
			data:   serverHeader + "datastore: sqlite\n",
			want:   []string{`field "datastore": got "sqlite", want an object`},
		},
		"all at once": {
			reason: "Every wrong field is named, so that one look mends the file.",
			decode: server,
			data:   serverHeader + "dataDir: 7\nport: 1\n",
			want:   []string{`field "dataDir": got 7, want a string`, `unknown field "port"`},
		},
		"twice": {
			reason: "A key that is given twice is refused, since only one of them could count.",
			decode: server,
			data:   serverHeader + "listen: :1\nlisten: :2\n",
			want:   []string{`"listen" already set`},
		},
		"other kind": {
			reason: "The configuration of the other role is told apart.",
			decode: gardenlet,
			data:   serverHeader,
			want:   []string{`got apiVersion "server.config.terrarium.garden/v1alpha1" and kind "ServerConfiguration"`},
		},
		"no kind": {
			reason: "A file without a kind is refused, because nobody can tell how to read it later.",
			decode: server,
			data:   "dataDir: /srv\n",
			want:   []string{`want apiVersion "server.config.terrarium.garden/v1alpha1" and kind "ServerConfiguration"`},
		},
		"no YAML": {
			reason: "What is no YAML says where it breaks.",
			decode: server,
			data:   serverHeader + "dataDir: [\n",
			want:   []string{"read YAML", "line"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			err := tc.decode([]byte(tc.data))
			if err == nil {
				t.Fatalf("%s\nDecode(...) succeeded, want an error", tc.reason)
			}

			for _, want := range tc.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%s\nDecode(...) = %q, want it to contain %q", tc.reason, err, want)
				}
			}
		})
	}
}

func TestErrWrongKind(t *testing.T) {
	t.Parallel()

	_, err := gardenconfigv1alpha1.DecodeServerConfiguration([]byte(gardenletHeader))
	if !errors.Is(err, gardenconfigv1alpha1.ErrWrongKind) {
		t.Errorf("Callers tell a wrong kind by its error: got %v", err)
	}
}
