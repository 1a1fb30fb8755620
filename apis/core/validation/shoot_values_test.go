// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// invalid returns the complaints about fields below a path.
func invalid(path string, names ...string) []string {
	all := make([]string, 0, len(names))
	for _, name := range names {
		all = append(all, path+name+": FieldValueInvalid")
	}
	slices.Sort(all)
	return all
}

// TestValidateShootNumbers has numbers, amounts and durations that are too small, field by field.
func TestValidateShootNumbers(t *testing.T) {
	t.Parallel()
	const k = "spec.kubernetes."
	minus, few, amount := lasting(-time.Second), new(int32(-1)), new(resource.MustParse("-1"))
	whole := new(1.1)
	checkShoots(t, map[string]shootCase{
		"cluster autoscaler": {
			reason: "no time and no number of the autoscaler is negative",
			change: func(s *gardencorev1beta1.Shoot) {
				s.Spec.Kubernetes.Version = "1.32.1"
				s.Spec.Kubernetes.ClusterAutoscaler = &gardencorev1beta1.ClusterAutoscaler{
					InitialNodeGroupBackoffDuration: minus, MaxBinpackingTime: minus, MaxNodeGroupBackoffDuration: minus, MaxNodeProvisionTime: minus,
					NewPodScaleUpDelay: minus, NodeGroupBackoffResetTimeout: minus, ScaleDownDelayAfterAdd: minus, ScaleDownDelayAfterDelete: minus,
					ScaleDownDelayAfterFailure: minus, ScaleDownUnneededTime: minus, ScanInterval: minus,
					MaxGracefulTerminationSeconds: few, MaxDrainParallelism: few, MaxScaleDownParallelism: few, MaxEmptyBulkDelete: few, Verbosity: few,
					IgnoreTaints: []string{"a b"}, Autoscaling: &gardencorev1beta1.ControlPlaneAutoscaling{MinAllowed: map[string]resource.Quantity{"cpu": *amount}},
				}
			},
			want: invalid(k+"clusterAutoscaler.", "initialNodeGroupBackoffDuration", "maxBinpackingTime", "maxNodeGroupBackoffDuration", "maxNodeProvisionTime",
				"newPodScaleUpDelay", "nodeGroupBackoffResetTimeout", "scaleDownDelayAfterAdd", "scaleDownDelayAfterDelete", "scaleDownDelayAfterFailure",
				"scaleDownUnneededTime", "scanInterval", "maxGracefulTerminationSeconds", "maxDrainParallelism", "maxScaleDownParallelism",
				"maxEmptyBulkDelete", "verbosity", "ignoreTaints[0]", "autoscaling.minAllowed.cpu"),
		},
		"vertical autoscaler": {
			reason: "nor those of the other one, whose shares are shares",
			change: func(s *gardencorev1beta1.Shoot) {
				s.Spec.Kubernetes.VerticalPodAutoscaler = &gardencorev1beta1.VerticalPodAutoscaler{
					CPUHistogramDecayHalfLife: minus, EvictAfterOOMThreshold: minus, MemoryAggregationInterval: minus, MemoryHistogramDecayHalfLife: minus,
					RecommenderInterval: minus, UpdaterInterval: minus, MemoryAggregationIntervalCount: new(int64(-1)),
					RecommendationLowerBoundCPUPercentile: whole, RecommendationLowerBoundMemoryPercentile: whole, RecommendationUpperBoundCPUPercentile: whole,
					RecommendationUpperBoundMemoryPercentile: whole, TargetCPUPercentile: whole, TargetMemoryPercentile: whole,
				}
			},
			want: invalid(k+"verticalPodAutoscaler.", "cpuHistogramDecayHalfLife", "evictAfterOOMThreshold", "memoryAggregationInterval", "memoryHistogramDecayHalfLife",
				"recommenderInterval", "updaterInterval", "memoryAggregationIntervalCount", "recommendationLowerBoundCPUPercentile",
				"recommendationLowerBoundMemoryPercentile", "recommendationUpperBoundCPUPercentile", "recommendationUpperBoundMemoryPercentile",
				"targetCPUPercentile", "targetMemoryPercentile"),
		},
		"kubelet": {
			reason: "nor those of kubelets",
			change: kubelet(gardencorev1beta1.KubeletConfig{
				EvictionPressureTransitionPeriod: minus, ImageMaximumGCAge: minus, ImageMinimumGCAge: minus, EvictionMaxPodGracePeriod: few,
				RegistryBurst: few, RegistryPullQPS: few, MaxParallelImagePulls: new(int32(0)),
				EvictionMinimumReclaim:  &gardencorev1beta1.KubeletConfigEvictionMinimumReclaim{ImageFSAvailable: amount, ImageFSInodesFree: amount, MemoryAvailable: amount, NodeFSAvailable: amount},
				EvictionSoftGracePeriod: &gardencorev1beta1.KubeletConfigEvictionSoftGracePeriod{ImageFSAvailable: minus, ImageFSInodesFree: minus, MemoryAvailable: minus, NodeFSAvailable: minus},
				KubeReserved:            &gardencorev1beta1.KubeletConfigReserved{CPU: amount, EphemeralStorage: amount, PID: amount},
			}),
			want: invalid(k+"kubelet.", "evictionPressureTransitionPeriod", "imageMaximumGCAge", "imageMinimumGCAge", "evictionMaxPodGracePeriod", "registryBurst", "registryPullQPS",
				"maxParallelImagePulls", "evictionMinimumReclaim.imageFSAvailable", "evictionMinimumReclaim.imageFSInodesFree", "evictionMinimumReclaim.memoryAvailable",
				"evictionMinimumReclaim.nodeFSAvailable", "evictionSoftGracePeriod.imageFSAvailable", "evictionSoftGracePeriod.imageFSInodesFree",
				"evictionSoftGracePeriod.memoryAvailable", "evictionSoftGracePeriod.nodeFSAvailable", "kubeReserved.cpu", "kubeReserved.ephemeralStorage", "kubeReserved.pid"),
		},
		"control plane": {
			reason: "nor those of the control plane, some of which are longer than nothing",
			change: func(s *gardencorev1beta1.Shoot) {
				s.Spec.Kubernetes.Version = "1.32.1"
				s.Spec.Kubernetes.KubeAPIServer = &gardencorev1beta1.KubeAPIServerConfig{
					DefaultNotReadyTolerationSeconds: new(int64(-1)), DefaultUnreachableTolerationSeconds: new(int64(-1)),
					WatchCacheSizes: &gardencorev1beta1.WatchCacheSizes{Default: few}, OIDCConfig: &gardencorev1beta1.OIDCConfig{CABundle: new("none")},
				}
				s.Spec.Kubernetes.KubeControllerManager = &gardencorev1beta1.KubeControllerManagerConfig{
					KubernetesConfig: gated("Nonsense"), PodEvictionTimeout: lasting(0),
					HorizontalPodAutoscaler: &gardencorev1beta1.HorizontalPodAutoscalerConfig{CPUInitializationPeriod: lasting(0), DownscaleStabilization: lasting(0)},
				}
				s.Spec.Kubernetes.KubeProxy = &gardencorev1beta1.KubeProxyConfig{KubernetesConfig: gated("Nonsense")}
			},
			want: invalid(k, "kubeAPIServer.defaultNotReadyTolerationSeconds", "kubeAPIServer.defaultUnreachableTolerationSeconds", "kubeAPIServer.watchCacheSizes.default",
				"kubeAPIServer.oidcConfig.caBundle", "kubeControllerManager.featureGates.Nonsense", "kubeControllerManager.podEvictionTimeout",
				"kubeControllerManager.horizontalPodAutoscaler.cpuInitializationPeriod", "kubeControllerManager.horizontalPodAutoscaler.downscaleStabilization",
				"kubeProxy.featureGates.Nonsense"),
		},
		"pools": {
			reason: "nor those of pools",
			change: pool(func(w *gardencorev1beta1.Worker) {
				w.UpdateStrategy = new(gardencorev1beta1.MachineUpdateStrategyAutoInPlaceUpdate)
				w.ClusterAutoscaler = &gardencorev1beta1.ClusterAutoscalerOptions{MaxNodeProvisionTime: minus, ScaleDownUnreadyTime: minus, ScaleDownGPUUtilizationThreshold: whole}
				w.MachineControllerManager = &gardencorev1beta1.MachineControllerManagerSettings{
					InPlaceUpdateTimeout: minus, MachineCreationTimeout: minus, MachineDrainTimeout: minus, MachineHealthTimeout: minus, MachinePreserveTimeout: minus,
					MaxEvictRetries: few, AutoPreserveFailedMachineMax: few,
				}
			}),
			want: invalid("spec.provider.workers[0].", "clusterAutoscaler.maxNodeProvisionTime", "clusterAutoscaler.scaleDownUnreadyTime", "clusterAutoscaler.scaleDownGpuUtilizationThreshold",
				"machineControllerManager.inPlaceUpdateTimeout", "machineControllerManager.machineCreationTimeout", "machineControllerManager.machineDrainTimeout",
				"machineControllerManager.machineHealthTimeout", "machineControllerManager.machinePreserveTimeout", "machineControllerManager.maxEvictRetries",
				"machineControllerManager.autoPreserveFailedMachineMax"),
		},
	})
}

// TestValidateShootLists has names that are missing, or stand twice.
func TestValidateShootLists(t *testing.T) {
	t.Parallel()
	const at = "spec.provider.workers"
	config := &runtime.RawExtension{Raw: []byte("{}")}
	checkShoots(t, map[string]shootCase{
		"API-NAME-5 pools": {
			reason: "pools have names, each its own, and each of their zones stands once",
			change: func(s *gardencorev1beta1.Shoot) {
				another(s)
				s.Spec.Provider.Workers[1].Name = "worker"
				another(s)
				w := &s.Spec.Provider.Workers[2]
				w.Name, w.Machine.Image.Name, w.Zones, w.Maximum = "a_b", "", []string{"a", "a"}, 2
			},
			want: []string{
				at + "[1].name: FieldValueDuplicate", at + "[2].machine.image.name: FieldValueRequired", at + "[2].name: FieldValueInvalid", at + "[2].zones[1]: FieldValueDuplicate",
			},
		},
		"resources": {
			reason: "resources have names of their own, and credentials and kubeconfigs some name",
			change: func(s *gardencorev1beta1.Shoot) {
				one := gardencorev1beta1.NamedResourceReference{Name: "a", ResourceRef: *secret("a")}
				s.Spec.Resources = []gardencorev1beta1.NamedResourceReference{one, one}
				s.Spec.DNS = &gardencorev1beta1.DNS{Providers: []gardencorev1beta1.DNSProvider{{Type: new("one"), CredentialsRef: secret("")}}}
				s.Spec.Kubernetes.KubeAPIServer = &gardencorev1beta1.KubeAPIServerConfig{
					AdmissionPlugins: []gardencorev1beta1.AdmissionPlugin{{Name: "ImagePolicyWebhook", KubeconfigSecretName: new("")}},
				}
			},
			want: []string{
				"spec.dns.providers[0].credentialsRef.name: FieldValueRequired",
				"spec.kubernetes.kubeAPIServer.admissionPlugins[0].kubeconfigSecretName: FieldValueRequired", "spec.resources[1]: FieldValueDuplicate",
			},
		},
		"API-VALSHOOT-7 provider": {
			reason: "without machines nothing of them can be set",
			change: func(s *gardencorev1beta1.Shoot) {
				s.Spec.Provider = gardencorev1beta1.Provider{Type: "local", ControlPlaneConfig: config, InfrastructureConfig: config, WorkersSettings: &gardencorev1beta1.WorkersSettings{}}
				s.Spec.CredentialsBindingName, s.Spec.SecretBindingName, s.Spec.Networking = nil, new("a"), nil
				s.Spec.SystemComponents, s.Spec.Kubernetes.ClusterAutoscaler = &gardencorev1beta1.SystemComponents{}, &gardencorev1beta1.ClusterAutoscaler{}
			},
			want: []string{
				"spec.kubernetes.clusterAutoscaler: FieldValueForbidden", "spec.provider.controlPlaneConfig: FieldValueForbidden", "spec.provider.infrastructureConfig: FieldValueForbidden",
				"spec.provider.workersSettings: FieldValueForbidden", "spec.secretBindingName: FieldValueForbidden", "spec.systemComponents: FieldValueForbidden",
			},
		},
		"rotations": {
			reason: "each rotation has its period, and swap a known behaviour",
			change: func(s *gardencorev1beta1.Shoot) {
				soon := &gardencorev1beta1.MaintenanceRotationConfig{RotationPeriod: lasting(time.Second)}
				s.Spec.Maintenance = &gardencorev1beta1.Maintenance{AutoRotation: &gardencorev1beta1.MaintenanceAutoRotation{
					Credentials: &gardencorev1beta1.MaintenanceCredentialsAutoRotation{ETCDEncryptionKey: soon, SSHKeypair: soon},
				}}
				s.Spec.Kubernetes.Kubelet = &gardencorev1beta1.KubeletConfig{
					KubernetesConfig: gated("NodeSwap"), MemorySwap: &gardencorev1beta1.MemorySwapConfiguration{SwapBehavior: new(gardencorev1beta1.SwapBehavior("Some"))},
				}
			},
			want: []string{
				"spec.kubernetes.kubelet.memorySwap.swapBehavior: FieldValueNotSupported",
				"spec.maintenance.autoRotation.credentials.etcdEncryptionKey.rotationPeriod: FieldValueInvalid",
				"spec.maintenance.autoRotation.credentials.sshKeypair.rotationPeriod: FieldValueInvalid",
			},
		},
		"API-VALOP-6 next": {
			reason: "nor do operations of the next maintenance exclude each other", change: annotated(maintenanceKey, "rotate-ca-start;rotate-ca-start-without-workers-rollout"),
			want: []string{atMaintenance + "FieldValueForbidden", atMaintenance + "FieldValueForbidden", atMaintenance + "FieldValueForbidden"},
		},
	})
}

// TestValidateShootValues has every value that a field can have, of those that other tests do not use.
func TestValidateShootValues(t *testing.T) {
	t.Parallel()
	type change = shootChange
	accepted := map[string]change{
		"TLS 1.2":       apiServer(gardencorev1beta1.KubeAPIServerConfig{TLSMinVersion: new("VersionTLS12")}),
		"TLS 1.3":       apiServer(gardencorev1beta1.KubeAPIServerConfig{TLSMinVersion: new("VersionTLS13")}),
		"no static CPU": kubelet(gardencorev1beta1.KubeletConfig{CPUManagerPolicy: new("none")}),
		"static CPU":    kubelet(gardencorev1beta1.KubeletConfig{CPUManagerPolicy: new("static")}),
		"expanders":     scaled(gardencorev1beta1.ClusterAutoscaler{Expander: new(gardencorev1beta1.ExpanderMode("least-nodes,most-pods,random"))}),
		"encryption": apiServer(gardencorev1beta1.KubeAPIServerConfig{EncryptionConfig: &gardencorev1beta1.EncryptionConfig{
			Provider: gardencorev1beta1.EncryptionProvider{Type: new(gardencorev1beta1.EncryptionProviderTypeAesgcm)},
		}}),
		"no swap": kubelet(gardencorev1beta1.KubeletConfig{
			KubernetesConfig: gated("NodeSwap"), FailSwapOn: new(false), MemorySwap: &gardencorev1beta1.MemorySwapConfiguration{SwapBehavior: new(gardencorev1beta1.SwapBehaviorNoSwap)},
		}),
	}
	for _, architecture := range []string{"amd64", "arm64"} {
		accepted["machines "+architecture] = pool(func(w *gardencorev1beta1.Worker) { w.Machine.Architecture = &architecture })
	}
	for _, mode := range []gardencorev1beta1.CoreDNSAutoscalingMode{"horizontal", "cluster-proportional"} {
		accepted["DNS "+string(mode)] = func(s *gardencorev1beta1.Shoot) {
			s.Spec.SystemComponents = &gardencorev1beta1.SystemComponents{CoreDNS: &gardencorev1beta1.CoreDNS{Autoscaling: &gardencorev1beta1.CoreDNSAutoscaling{Mode: mode}}}
		}
	}
	for _, policy := range []gardencorev1beta1.ImagePullCredentialsVerificationPolicy{"NeverVerify", "NeverVerifyPreloadedImages"} {
		accepted["images "+string(policy)] = kubelet(gardencorev1beta1.KubeletConfig{ImagePullCredentialsVerificationPolicy: &policy})
	}
	for _, profile := range []gardencorev1beta1.SchedulingProfile{"balanced", "bin-packing"} {
		accepted["pods "+string(profile)] = func(s *gardencorev1beta1.Shoot) {
			s.Spec.Kubernetes.KubeScheduler = &gardencorev1beta1.KubeSchedulerConfig{Profile: &profile}
		}
	}
	for _, policy := range []gardencorev1beta1.ExternalTrafficPolicy{"Cluster", "Local"} {
		accepted["traffic "+string(policy)] = func(s *gardencorev1beta1.Shoot) {
			on := gardencorev1beta1.Addon{Enabled: true}
			s.Spec.Kubernetes.Version = "1.34.1"
			s.Spec.Addons = &gardencorev1beta1.Addons{
				KubernetesDashboard: &gardencorev1beta1.KubernetesDashboard{Addon: on, AuthenticationMode: new("token")},
				NginxIngress:        &gardencorev1beta1.NginxIngress{Addon: on, ExternalTrafficPolicy: &policy},
			}
		}
	}
	cases := make(map[string]shootCase, len(accepted))
	for name, c := range accepted {
		cases[name] = shootCase{reason: "a known value passes", change: c}
	}
	checkShoots(t, cases)
	checkShootUpdates(t, map[string]shootUpdate{
		"API-VALSHOOT-2 provider": {
			reason: "the provider and the network stay, also the range of Services",
			now: changes{func(s *gardencorev1beta1.Shoot) {
				s.Spec.Provider.Type, s.Spec.Networking.Type, s.Spec.Networking.Services = "other", new("other"), new("10.102.0.0/16")
			}},
			want: []string{"spec.networking.services: FieldValueInvalid", "spec.networking.type: FieldValueInvalid", "spec.provider.type: FieldValueInvalid"},
		},
		"same runtime": {
			reason: "a runtime that stays is no change", old: changes{inPlace("1.36.3"), containerd}, now: changes{inPlace("1.36.3"), containerd},
		},
	})
}

func containerd(s *gardencorev1beta1.Shoot) {
	s.Spec.Provider.Workers[0].CRI = &gardencorev1beta1.CRI{Name: "containerd"}
}
