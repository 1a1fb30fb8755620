// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/terrarium-garden/terrarium/apis/check/checktest"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/core/validation"
)

type shootChange = func(*gardencorev1beta1.Shoot)

// apiServer makes a change of the settings of the API server.
func apiServer(a gardencorev1beta1.KubeAPIServerConfig) shootChange {
	return func(s *gardencorev1beta1.Shoot) { s.Spec.Kubernetes.KubeAPIServer = &a }
}

func kubelet(k gardencorev1beta1.KubeletConfig) shootChange {
	return func(s *gardencorev1beta1.Shoot) { s.Spec.Kubernetes.Kubelet = &k }
}

func dns(d gardencorev1beta1.DNS) shootChange {
	return func(s *gardencorev1beta1.Shoot) { s.Spec.DNS = &d }
}

func pool(change func(*gardencorev1beta1.Worker)) shootChange {
	return func(s *gardencorev1beta1.Shoot) { change(&s.Spec.Provider.Workers[0]) }
}

func tolerating(t gardencorev1beta1.FailureToleranceType, zones ...string) shootChange {
	return func(s *gardencorev1beta1.Shoot) {
		s.Spec.ControlPlane = &gardencorev1beta1.ControlPlane{Zones: zones}
		if t != "" {
			s.Spec.ControlPlane.HighAvailability = &gardencorev1beta1.HighAvailability{FailureTolerance: gardencorev1beta1.FailureTolerance{Type: t}}
		}
	}
}

func secret(name string) *autoscalingv1.CrossVersionObjectReference {
	return &autoscalingv1.CrossVersionObjectReference{APIVersion: "v1", Kind: "Secret", Name: name}
}

func checkShoots(t *testing.T, cases map[string]shootCase) {
	t.Helper()
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, checktest.Complaints(validation.ValidateShoot(shoot(tc.change)))); diff != "" {
				t.Errorf("%s\nValidateShoot(...) (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// shootCase is a new shoot and what is wrong with it.
type shootCase struct {
	reason string
	change shootChange
	want   []string
}

func TestValidateShootKubernetes(t *testing.T) {
	t.Parallel()
	gates := func(names ...string) gardencorev1beta1.KubernetesConfig {
		c := gardencorev1beta1.KubernetesConfig{FeatureGates: map[string]bool{}}
		for _, name := range names {
			c.FeatureGates[name] = true
		}
		return c
	}
	const server = "spec.kubernetes.kubeAPIServer."
	checkShoots(t, map[string]shootCase{
		"API-VALSHOOT-16 gates": {
			reason: "gates are those of the version",
			change: apiServer(gardencorev1beta1.KubeAPIServerConfig{KubernetesConfig: gates("AllAlpha", "NodeSwap", "Nonsense")}),
			want:   []string{server + "featureGates.Nonsense: FieldValueInvalid"},
		},
		"API-VALSHOOT-16 later gates": {
			reason: "a gate of a later version is not there yet",
			change: func(s *gardencorev1beta1.Shoot) {
				s.Spec.Kubernetes.Version = "1.34.1"
				s.Spec.Kubernetes.KubeScheduler = &gardencorev1beta1.KubeSchedulerConfig{KubernetesConfig: gates("WorkloadWithJob", "Dropped")}
			},
			want: []string{
				"spec.kubernetes.kubeScheduler.featureGates.Dropped: FieldValueInvalid",
				"spec.kubernetes.kubeScheduler.featureGates.WorkloadWithJob: FieldValueForbidden",
			},
		},
		"API-VALSHOOT-16 plugins": {
			reason: "plugins are known, of the version, once, and those that are needed stay on",
			change: apiServer(gardencorev1beta1.KubeAPIServerConfig{AdmissionPlugins: []gardencorev1beta1.AdmissionPlugin{
				{Name: "PodNodeSelector"},
				{Name: "PodNodeSelector"},
				{Name: "Nonsense"},
				{Name: "PodSecurityPolicy"},
				{Name: "NodeRestriction", Disabled: new(true)},
				{},
			}}),
			want: []string{
				server + "admissionPlugins[1]: FieldValueDuplicate", server + "admissionPlugins[2].name: FieldValueInvalid",
				server + "admissionPlugins[3].name: FieldValueForbidden", server + "admissionPlugins[4]: FieldValueForbidden",
				server + "admissionPlugins[5].name: FieldValueRequired",
			},
		},
		"API-VALSHOOT-16 numbers": {
			reason: "limits are within limits",
			change: apiServer(gardencorev1beta1.KubeAPIServerConfig{
				EventTTL: &metav1.Duration{Duration: 25 * time.Hour},
				Requests: &gardencorev1beta1.APIServerRequests{MaxNonMutatingInflight: new(int32(5001)), MaxMutatingInflight: new(int32(-1))},
				ServiceAccountConfig: &gardencorev1beta1.ServiceAccountConfig{
					Issuer: new("a"), AcceptedIssuers: []string{"b", "a"}, MaxTokenExpiration: &metav1.Duration{Duration: time.Hour},
				},
				AuditConfig: &gardencorev1beta1.AuditConfig{AuditPolicy: &gardencorev1beta1.AuditPolicy{ConfigMapRef: &corev1.ObjectReference{}}},
				WatchCacheSizes: &gardencorev1beta1.WatchCacheSizes{
					Default: new(int32(-1)), Resources: []gardencorev1beta1.ResourceWatchCacheSize{{Size: -1}},
				},
			}),
			want: []string{
				server + "auditConfig.auditPolicy.configMapRef.name: FieldValueRequired", server + "eventTTL: FieldValueInvalid",
				server + "requests.maxMutatingInflight: FieldValueInvalid", server + "requests.maxNonMutatingInflight: FieldValueInvalid",
				server + "serviceAccountConfig.acceptedIssuers[0]: FieldValueInvalid",
				server + "serviceAccountConfig.acceptedIssuers[1]: FieldValueInvalid", server + "serviceAccountConfig.acceptedIssuers[1]: FieldValueInvalid",
				server + "serviceAccountConfig.issuer: FieldValueInvalid", server + "serviceAccountConfig.maxTokenExpiration: FieldValueForbidden",
				server + "watchCacheSizes.default: FieldValueForbidden", server + "watchCacheSizes.resources[0].resource: FieldValueRequired",
				server + "watchCacheSizes.resources[0].size: FieldValueInvalid",
			},
		},
		"API-VALSHOOT-16 unset": {
			reason: "a lifetime of zero is none",
			change: apiServer(gardencorev1beta1.KubeAPIServerConfig{
				ServiceAccountConfig: &gardencorev1beta1.ServiceAccountConfig{MaxTokenExpiration: &metav1.Duration{}},
			}),
		},
		"API-VALSHOOT-16 bounds": {
			reason: "a limit may be reached",
			change: apiServer(gardencorev1beta1.KubeAPIServerConfig{
				EventTTL:             &metav1.Duration{Duration: 24 * time.Hour},
				Requests:             &gardencorev1beta1.APIServerRequests{MaxNonMutatingInflight: new(int32(5000)), MaxMutatingInflight: new(int32(2500))},
				ServiceAccountConfig: &gardencorev1beta1.ServiceAccountConfig{MaxTokenExpiration: &metav1.Duration{Duration: 2160 * time.Hour}},
			}),
		},
		"API-VALSHOOT-16 least": {
			reason: "from below too",
			change: apiServer(gardencorev1beta1.KubeAPIServerConfig{
				EventTTL:             &metav1.Duration{},
				ServiceAccountConfig: &gardencorev1beta1.ServiceAccountConfig{MaxTokenExpiration: &metav1.Duration{Duration: 720 * time.Hour}},
			}),
		},
		"API-VALSHOOT-16 beyond": {
			reason: "and not crossed",
			change: apiServer(gardencorev1beta1.KubeAPIServerConfig{
				EventTTL:             &metav1.Duration{Duration: -1},
				Requests:             &gardencorev1beta1.APIServerRequests{MaxMutatingInflight: new(int32(2501))},
				ServiceAccountConfig: &gardencorev1beta1.ServiceAccountConfig{MaxTokenExpiration: &metav1.Duration{Duration: 2160*time.Hour + 1}},
			}),
			want: []string{
				server + "eventTTL: FieldValueInvalid", server + "requests.maxMutatingInflight: FieldValueInvalid",
				server + "serviceAccountConfig.maxTokenExpiration: FieldValueForbidden",
			},
		},
		"API-VALSHOOT-17 bounds": {
			reason: "a kubelet reaches its limits",
			change: kubelet(gardencorev1beta1.KubeletConfig{
				PodPIDsLimit: new(int64(100)), ContainerLogMaxFiles: new(int32(2)),
				ImageGCHighThresholdPercent: new(int32(100)), ImageGCLowThresholdPercent: new(int32(99)),
			}),
		},
		"API-VALSHOOT-17 high alone": {
			reason: "what a pool leaves out is what a kubelet takes: 80 percent, and it does not start with that",
			change: pool(func(w *gardencorev1beta1.Worker) {
				w.Kubernetes = &gardencorev1beta1.WorkerKubernetes{Kubelet: &gardencorev1beta1.KubeletConfig{ImageGCHighThresholdPercent: new(int32(80))}}
			}),
			want: []string{"spec.provider.workers[0].kubernetes.kubelet.imageGCHighThresholdPercent: FieldValueForbidden"},
		},
		"API-VALSHOOT-17 low alone": {
			reason: "or 85 percent",
			change: pool(func(w *gardencorev1beta1.Worker) {
				w.Kubernetes = &gardencorev1beta1.WorkerKubernetes{Kubelet: &gardencorev1beta1.KubeletConfig{ImageGCLowThresholdPercent: new(int32(85))}}
			}),
			want: []string{"spec.provider.workers[0].kubernetes.kubelet.imageGCLowThresholdPercent: FieldValueForbidden"},
		},
		"API-VALSHOOT-17 one alone": {
			reason: "one that fits may stand alone",
			change: pool(func(w *gardencorev1beta1.Worker) {
				w.Kubernetes = &gardencorev1beta1.WorkerKubernetes{Kubelet: &gardencorev1beta1.KubeletConfig{ImageGCHighThresholdPercent: new(int32(81))}}
			}),
		},
		"API-VALSHOOT-17 mode": {
			reason: "nodes forward in a known way",
			change: func(s *gardencorev1beta1.Shoot) {
				s.Spec.Kubernetes.KubeProxy = &gardencorev1beta1.KubeProxyConfig{Mode: new(gardencorev1beta1.ProxyMode("Pigeons"))}
			},
			want: []string{"spec.kubernetes.kubeProxy.mode: FieldValueNotSupported"},
		},
		"API-VALSHOOT-17 kubelet": {
			reason: "a kubelet has what it needs",
			change: kubelet(gardencorev1beta1.KubeletConfig{
				PodPIDsLimit: new(int64(99)), ContainerLogMaxFiles: new(int32(1)),
				ImageGCHighThresholdPercent: new(int32(101)), ImageGCLowThresholdPercent: new(int32(101)),
			}),
			want: []string{
				"spec.kubernetes.kubelet.containerLogMaxFiles: FieldValueInvalid",
				"spec.kubernetes.kubelet.imageGCHighThresholdPercent: FieldValueInvalid",
				"spec.kubernetes.kubelet.imageGCLowThresholdPercent: FieldValueForbidden",
				"spec.kubernetes.kubelet.imageGCLowThresholdPercent: FieldValueInvalid",
				"spec.kubernetes.kubelet.podPidsLimit: FieldValueInvalid",
			},
		},
		"API-VALSHOOT-17 pool": {
			reason: "so has that of a pool",
			change: pool(func(w *gardencorev1beta1.Worker) {
				w.Kubernetes = &gardencorev1beta1.WorkerKubernetes{Kubelet: &gardencorev1beta1.KubeletConfig{PodPIDsLimit: new(int64(1))}}
			}),
			want: []string{"spec.provider.workers[0].kubernetes.kubelet.podPidsLimit: FieldValueInvalid"},
		},
		"API-VALSHOOT-22": {
			reason: "what is encrypted is named one by one",
			change: apiServer(gardencorev1beta1.KubeAPIServerConfig{EncryptionConfig: &gardencorev1beta1.EncryptionConfig{
				Provider:  gardencorev1beta1.EncryptionProvider{Type: new(gardencorev1beta1.EncryptionProviderType("rot13"))},
				Resources: []string{"configmaps", "configmaps.", "secrets.", "*.apps", "Deployments.apps"},
			}}),
			want: []string{
				server + "encryptionConfig.provider.type: FieldValueNotSupported", server + "encryptionConfig.resources[1]: FieldValueDuplicate",
				server + "encryptionConfig.resources[1]: FieldValueInvalid", server + "encryptionConfig.resources[2]: FieldValueForbidden",
				server + "encryptionConfig.resources[2]: FieldValueInvalid", server + "encryptionConfig.resources[3]: FieldValueInvalid",
				server + "encryptionConfig.resources[4]: FieldValueInvalid",
			},
		},
	})
}

func TestValidateShootMachines(t *testing.T) {
	t.Parallel()
	const at = "spec.provider.workers[0]."
	version := func(v string) shootChange {
		return pool(func(w *gardencorev1beta1.Worker) { w.Kubernetes = &gardencorev1beta1.WorkerKubernetes{Version: &v} })
	}
	checkShoots(t, map[string]shootCase{
		"API-NAME-5 volumes": {
			reason: "names of volumes are short", change: pool(func(w *gardencorev1beta1.Worker) {
				w.Volume = &gardencorev1beta1.Volume{Size: "20Gi"}
				w.DataVolumes = []gardencorev1beta1.DataVolume{{Name: "much-too-long-name", Size: "1Gi"}, {Name: "a", Size: "1Gi"}, {Name: "a", Size: "1Gi"}}
			}),
			want: []string{at + "dataVolumes[0].name: FieldValueTooLong", at + "dataVolumes[2].name: FieldValueDuplicate"},
		},
		"API-VALSHOOT-6 above": {
			reason: "kubelets are not ahead of their API server", change: version("1.37.0"),
			want: []string{at + "kubernetes.version: FieldValueForbidden"},
		},
		"API-VALSHOOT-6 three behind": {reason: "they may be three versions behind", change: version("1.33.9")},
		"API-VALSHOOT-6 four behind": {
			reason: "but not four", change: version("1.32.9"), want: []string{at + "kubernetes.version: FieldValueForbidden"},
		},
		"API-VALSHOOT-8 large volume": {
			reason: "sizes can be counted", change: pool(func(w *gardencorev1beta1.Worker) {
				w.Volume = &gardencorev1beta1.Volume{Size: "999999999Gi"}
				w.DataVolumes = []gardencorev1beta1.DataVolume{{Name: "a", Size: "1000000000Gi"}}
			}),
			want: []string{at + "dataVolumes[0].size: FieldValueTooLong"},
		},
		"API-VALSHOOT-8 data volume": {
			reason: "a kubelet keeps its data on a volume that there is, beside a root volume",
			change: pool(func(w *gardencorev1beta1.Worker) {
				w.DataVolumes, w.KubeletDataVolumeName = []gardencorev1beta1.DataVolume{{Name: "a", Size: "1Gi"}}, new("b")
			}),
			want: []string{at + "kubeletDataVolumeName: FieldValueInvalid", at + "volume: FieldValueRequired"},
		},
		"API-VALSHOOT-8 machines": {
			reason: "taints, labels, certificates and priorities have their form",
			change: pool(func(w *gardencorev1beta1.Worker) {
				w.Taints = []corev1.Taint{{Key: "no key", Value: "no value", Effect: "None"}}
				w.Labels, w.Annotations = map[string]string{"a": "no value"}, map[string]string{"no key": ""}
				w.CABundle, w.Priority = new("-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----"), new(int32(-2))
			}),
			want: []string{
				at + "annotations: FieldValueInvalid", at + "caBundle: FieldValueInvalid", at + "labels: FieldValueInvalid",
				at + "priority: FieldValueInvalid", at + "taints[0].effect: FieldValueNotSupported",
				at + "taints[0].key: FieldValueInvalid", at + "taints[0].value: FieldValueInvalid",
			},
		},
		"API-VALSHOOT-8 percent": {
			reason: "shares are shares of all machines",
			change: pool(func(w *gardencorev1beta1.Worker) { w.MaxSurge, w.MaxUnavailable = percent("101%"), percent("101%") }),
			want:   []string{at + "maxSurge: FieldValueInvalid", at + "maxUnavailable: FieldValueInvalid"},
		},
		"API-VALSHOOT-8 strategy": {
			reason: "machines are updated in a known way",
			change: pool(func(w *gardencorev1beta1.Worker) {
				w.UpdateStrategy = new(gardencorev1beta1.MachineUpdateStrategy("Prayer"))
			}),
			want: []string{at + "updateStrategy: FieldValueNotSupported"},
		},
		"API-VALSHOOT-9 zones": {
			reason: "each zone gets a machine for system components",
			change: pool(func(w *gardencorev1beta1.Worker) { w.Zones = []string{"a", "b"} }),
			want:   []string{at + "maximum: FieldValueForbidden"},
		},
	})
}

func TestValidateShootParts(t *testing.T) {
	t.Parallel()
	workerless := func(m gardencorev1beta1.Maintenance) shootChange {
		return func(s *gardencorev1beta1.Shoot) {
			s.Spec.Provider.Workers, s.Spec.CredentialsBindingName, s.Spec.Networking, s.Spec.Maintenance = nil, nil, nil, &m
		}
	}
	enabled := &gardencorev1beta1.Addons{NginxIngress: &gardencorev1beta1.NginxIngress{Addon: gardencorev1beta1.Addon{Enabled: true}}}
	checkShoots(t, map[string]shootCase{
		"API-VALSHOOT-1 bindings": {
			reason: "one binding is enough",
			change: func(s *gardencorev1beta1.Shoot) { s.Spec.SecretBindingName = new("other") },
			want:   []string{"spec.secretBindingName: FieldValueForbidden"},
		},
		"API-SHOOTSTRAT-9": {
			reason: "both fields name one profile, of a known kind",
			change: func(s *gardencorev1beta1.Shoot) {
				s.Spec.CloudProfileName, s.Spec.CloudProfile.Kind = new("other"), "Profile"
			},
			want: []string{
				"spec.cloudProfile.kind: FieldValueNotSupported",
				"spec.cloudProfileName: FieldValueForbidden", "spec.cloudProfileName: FieldValueInvalid",
			},
		},
		"API-VALSHOOT-13 past": {
			reason: "addons are no more",
			change: func(s *gardencorev1beta1.Shoot) { s.Spec.Addons = enabled },
			want:   []string{"spec.addons: FieldValueForbidden"},
		},
		"API-VALSHOOT-13 purpose": {
			reason: "and never were for earnest",
			change: func(s *gardencorev1beta1.Shoot) {
				s.Spec.Kubernetes.Version, s.Spec.Addons, s.Spec.Purpose = "1.34.0", enabled, new(gardencorev1beta1.ShootPurposeProduction)
			},
			want: []string{"spec.addons: FieldValueForbidden"},
		},
		"API-VALSHOOT-13 evaluation": {
			reason: "but for trying out",
			change: func(s *gardencorev1beta1.Shoot) {
				s.Spec.Kubernetes.Version, s.Spec.Addons, s.Spec.Purpose = "1.34.0", enabled, new(gardencorev1beta1.ShootPurposeEvaluation)
			},
		},
		"API-VALSHOOT-15 twice": {
			reason: "the same hour is named once",
			change: func(s *gardencorev1beta1.Shoot) {
				s.Spec.Hibernation = &gardencorev1beta1.Hibernation{Schedules: []gardencorev1beta1.HibernationSchedule{
					{Start: new("0 20 * * *")}, {Start: new("0 20 * * *"), End: new("0 6 * * *")},
				}}
			},
			want: []string{"spec.hibernation.schedules[1].start: FieldValueDuplicate"},
		},
		"API-VALSHOOT-19": {
			reason: "alerts go to addresses, once",
			change: func(s *gardencorev1beta1.Shoot) {
				s.Spec.Monitoring = &gardencorev1beta1.Monitoring{Alerting: &gardencorev1beta1.Alerting{
					EmailReceivers: []string{"a@example.org", "a@example.org", "Rose <rose@example.org>"},
				}}
			},
			want: []string{
				"spec.monitoring.alerting.emailReceivers[1]: FieldValueDuplicate", "spec.monitoring.alerting.emailReceivers[2]: FieldValueInvalid",
			},
		},
		"API-VALSHOOT-20": {
			reason: "what can fail is a node or a zone", change: tolerating("continent"),
			want: []string{"spec.controlPlane.highAvailability.failureTolerance.type: FieldValueNotSupported"},
		},
		"API-VALSHOOT-1 former bindings": {
			reason: "also while both sorts are known",
			change: func(s *gardencorev1beta1.Shoot) {
				s.Spec.Kubernetes.Version, s.Spec.SecretBindingName = "1.33.1", new("other")
			},
			want: []string{"spec.secretBindingName: FieldValueForbidden"},
		},
		"API-VALSHOOT-19 none":  {reason: "alerts can be left out", change: func(s *gardencorev1beta1.Shoot) { s.Spec.Monitoring = &gardencorev1beta1.Monitoring{} }},
		"API-VALSHOOT-26 node":  {reason: "tolerance of a node takes one zone", change: tolerating("node", "a")},
		"API-VALSHOOT-26 three": {reason: "three are for tolerance of a zone", change: tolerating("zone", "a", "b", "c")},
		"seed selector": {
			reason: "a selector selects by labels",
			change: func(s *gardencorev1beta1.Shoot) {
				s.Spec.SeedSelector = &gardencorev1beta1.SeedSelector{LabelSelector: metav1.LabelSelector{MatchLabels: map[string]string{"no label": "x"}}}
			},
			want: []string{"spec.seedSelector.matchLabels: FieldValueInvalid"},
		},
		"nameless": {
			reason: "a resource has a name", want: []string{"spec.resources[0].name: FieldValueRequired"},
			change: func(s *gardencorev1beta1.Shoot) {
				s.Spec.Resources = []gardencorev1beta1.NamedResourceReference{{ResourceRef: *secret("a")}}
			},
		},
		"group": {
			reason: "its kind is of a group", want: []string{"spec.resources[0].resourceRef.apiVersion: FieldValueInvalid"},
			change: func(s *gardencorev1beta1.Shoot) {
				s.Spec.Resources = []gardencorev1beta1.NamedResourceReference{{
					Name: "a", ResourceRef: autoscalingv1.CrossVersionObjectReference{APIVersion: "a_b/v1", Kind: "Secret", Name: "a"},
				}}
			},
		},
		"DNS servers": {
			reason: "DNS servers are scaled in a known way", want: []string{"spec.systemComponents.coreDNS.autoscaling.mode: FieldValueNotSupported"},
			change: func(s *gardencorev1beta1.Shoot) {
				s.Spec.SystemComponents = &gardencorev1beta1.SystemComponents{CoreDNS: &gardencorev1beta1.CoreDNS{Autoscaling: &gardencorev1beta1.CoreDNSAutoscaling{Mode: "diagonal"}}}
			},
		},
		"API-VALSHOOT-7 maintenance": {
			reason: "without machines there are no keys for them",
			change: workerless(gardencorev1beta1.Maintenance{AutoRotation: &gardencorev1beta1.MaintenanceAutoRotation{
				Credentials: &gardencorev1beta1.MaintenanceCredentialsAutoRotation{SSHKeypair: &gardencorev1beta1.MaintenanceRotationConfig{}},
			}}),
			want: []string{"spec.maintenance.autoRotation.credentials.sshKeypair: FieldValueForbidden"},
		},
		"API-VALSHOOT-7 rotations": {
			reason: "but other credentials",
			change: workerless(gardencorev1beta1.Maintenance{
				AutoUpdate: &gardencorev1beta1.MaintenanceAutoUpdate{KubernetesVersion: true},
				AutoRotation: &gardencorev1beta1.MaintenanceAutoRotation{
					Credentials: &gardencorev1beta1.MaintenanceCredentialsAutoRotation{ETCDEncryptionKey: &gardencorev1beta1.MaintenanceRotationConfig{}},
				},
			}),
		},
		"API-VALSHOOT-7 no rotations":   {reason: "or none", change: workerless(gardencorev1beta1.Maintenance{AutoRotation: &gardencorev1beta1.MaintenanceAutoRotation{}})},
		"API-VALSHOOT-7 no maintenance": {reason: "or no maintenance", change: workerless(gardencorev1beta1.Maintenance{})},
		"API-VALSHOOT-7 pods": {
			reason: "and no pods that tolerate anything",
			change: func(s *gardencorev1beta1.Shoot) {
				workerless(gardencorev1beta1.Maintenance{})(s)
				s.Spec.Kubernetes.KubeAPIServer = &gardencorev1beta1.KubeAPIServerConfig{DefaultNotReadyTolerationSeconds: new(int64(1)), DefaultUnreachableTolerationSeconds: new(int64(1))}
			},
			want: []string{
				"spec.kubernetes.kubeAPIServer.defaultNotReadyTolerationSeconds: FieldValueForbidden",
				"spec.kubernetes.kubeAPIServer.defaultUnreachableTolerationSeconds: FieldValueForbidden",
			},
		},
		"API-VALSHOOT-26 one":  {reason: "one zone can be chosen", change: tolerating("", "a")},
		"API-VALSHOOT-26 two":  {reason: "but not two", change: tolerating("node", "a", "b"), want: []string{"spec.controlPlane.zones: FieldValueInvalid"}},
		"API-VALSHOOT-26 same": {reason: "three are three", change: tolerating("zone", "a", "b", "a"), want: []string{"spec.controlPlane.zones[2]: FieldValueDuplicate"}},
		"API-VALSHOOT-25": {
			reason: "nothing is deleted by force before it is deleted",
			change: annotated("confirmation.gardener.cloud/force-deletion", "true"),
			want: []string{
				"metadata.annotations[confirmation.gardener.cloud/force-deletion]: FieldValueForbidden",
				"metadata.annotations[confirmation.gardener.cloud/force-deletion]: FieldValueForbidden",
			},
		},
		"Lists": {
			reason: "what is referred to is named, once",
			change: func(s *gardencorev1beta1.Shoot) {
				s.Spec.Extensions = []gardencorev1beta1.Extension{{Type: "a"}, {Type: "a"}, {}}
				s.Spec.Resources = []gardencorev1beta1.NamedResourceReference{{Name: "a"}}
				s.Spec.AccessRestrictions = []gardencorev1beta1.AccessRestrictionWithOptions{{}}
			},
			want: []string{
				"spec.accessRestrictions[0].name: FieldValueRequired", "spec.extensions[1].type: FieldValueDuplicate",
				"spec.extensions[2].type: FieldValueRequired", "spec.resources[0].resourceRef.apiVersion: FieldValueRequired",
				"spec.resources[0].resourceRef.kind: FieldValueRequired", "spec.resources[0].resourceRef.name: FieldValueRequired",
			},
		},
		"API-VALSHOOT-7 Kubernetes": {
			reason: "without nodes nothing of nodes can be set",
			change: func(s *gardencorev1beta1.Shoot) {
				s.Spec.Provider.Workers, s.Spec.CredentialsBindingName, s.Spec.Networking = nil, nil, nil
				s.Spec.Kubernetes.Kubelet, s.Spec.Kubernetes.KubeProxy = &gardencorev1beta1.KubeletConfig{}, &gardencorev1beta1.KubeProxyConfig{}
				s.Spec.Kubernetes.KubeScheduler = &gardencorev1beta1.KubeSchedulerConfig{}
				s.Spec.Kubernetes.VerticalPodAutoscaler = &gardencorev1beta1.VerticalPodAutoscaler{}
				s.Spec.Kubernetes.KubeControllerManager = &gardencorev1beta1.KubeControllerManagerConfig{NodeMonitorGracePeriod: &metav1.Duration{Duration: time.Minute}}
				s.Spec.Maintenance = &gardencorev1beta1.Maintenance{AutoUpdate: &gardencorev1beta1.MaintenanceAutoUpdate{MachineImageVersion: new(true)}}
			},
			want: []string{
				"spec.kubernetes.kubeControllerManager.nodeMonitorGracePeriod: FieldValueForbidden",
				"spec.kubernetes.kubeProxy: FieldValueForbidden", "spec.kubernetes.kubeScheduler: FieldValueForbidden",
				"spec.kubernetes.kubelet: FieldValueForbidden", "spec.kubernetes.verticalPodAutoscaler: FieldValueForbidden",
				"spec.maintenance.autoUpdate.machineImageVersion: FieldValueForbidden",
			},
		},
	})
}
