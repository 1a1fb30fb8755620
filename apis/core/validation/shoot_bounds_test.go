// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/terrarium-garden/terrarium/apis/check/checktest"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/core/validation"
)

func onVersion(v string) shootChange {
	return func(s *gardencorev1beta1.Shoot) { s.Spec.Kubernetes.Version = v }
}

func scaled(a gardencorev1beta1.ClusterAutoscaler) shootChange {
	return func(s *gardencorev1beta1.Shoot) { s.Spec.Kubernetes.ClusterAutoscaler = &a }
}

func lasting(d time.Duration) *metav1.Duration { return &metav1.Duration{Duration: d} }

func gated(names ...string) gardencorev1beta1.KubernetesConfig {
	all := map[string]bool{}
	for _, name := range names {
		name, off := strings.CutSuffix(name, "=false")
		all[name] = !off
	}
	return gardencorev1beta1.KubernetesConfig{FeatureGates: all}
}

// TestFeatureGates names, for each version, a gate that it has and one that it no longer or not yet has.
func TestFeatureGates(t *testing.T) {
	t.Parallel()
	const at = "spec.kubernetes.kubelet.featureGates."
	for version, tc := range map[string]struct {
		known             []string
		gone, early, lock string
	}{
		"1.31.1": {known: []string{"AppArmor", "KubeProxyDrainingTerminatingNodes", "AllAlpha"}, early: "ComponentFlagz", lock: "CPUManager"},
		"1.32.1": {known: []string{"AppArmor", "ComponentFlagz"}, gone: "ServerSideApply", early: "MutableCSINodeAllocatableCount", lock: "MemoryManager"},
		"1.33.1": {known: []string{"NodeSwap", "LegacySidecarContainers"}, gone: "AppArmor", early: "EnvFiles", lock: "SidecarContainers"},
		"1.34.1": {known: []string{"EnvFiles", "SystemdWatchdog"}, gone: "DevicePluginCDIDevices", early: "GangScheduling", lock: "NodeSwap"},
		"1.35.1": {known: []string{"GangScheduling", "UserNamespacesSupport"}, gone: "PodIndexLabel", early: "PodsAPI", lock: "InPlacePodVerticalScaling"},
		"1.36.3": {known: []string{"PodsAPI", "CustomCPUCFSQuotaPeriod", "WatchListClient"}, gone: "MemoryManager", lock: "DynamicResourceAllocation"},
	} {
		t.Run("API-VALSHOOT-16 "+version, func(t *testing.T) {
			t.Parallel()
			asked, want := append(slices.Clone(tc.known), "Nonsense", tc.lock+"=false"), []string{at + "Nonsense: FieldValueInvalid"}
			for _, name := range []string{tc.gone, tc.early} {
				if name != "" {
					asked, want = append(asked, name), append(want, at+name+": FieldValueForbidden")
				}
			}
			want = append(want, at+tc.lock+": FieldValueForbidden")
			slices.Sort(want)
			s := shoot(onVersion(version), kubelet(gardencorev1beta1.KubeletConfig{KubernetesConfig: gated(asked...)}))
			if diff := cmp.Diff(want, checktest.Complaints(validation.ValidateShoot(s))); diff != "" {
				t.Errorf("a version has gates of its own, and holds some of them\nValidateShoot(...) (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("API-VALSHOOT-16 other versions", func(t *testing.T) {
		t.Parallel()
		for _, version := range []string{"1.30.1", "1.37.0"} {
			s := shoot(onVersion(version), kubelet(gardencorev1beta1.KubeletConfig{KubernetesConfig: gated("Nonsense", "AllAlpha")}))
			if diff := cmp.Diff([]string(nil), checktest.Complaints(validation.ValidateShoot(s))); diff != "" {
				t.Errorf("%s\nValidateShoot(...) (-want +got):\n%s", "of versions that were not looked at nothing is said: "+version, diff)
			}
		}
	})
}

func TestRuntimeConfig(t *testing.T) {
	t.Parallel()
	const at = "spec.kubernetes.kubeAPIServer.runtimeConfig"
	config := func(version string, config map[string]bool) shootChange {
		return func(s *gardencorev1beta1.Shoot) {
			s.Spec.Kubernetes.Version = version
			s.Spec.Kubernetes.KubeAPIServer = &gardencorev1beta1.KubeAPIServerConfig{RuntimeConfig: config}
		}
	}
	checkShoots(t, map[string]shootCase{
		"API-VALSHOOT-16 fine": {
			reason: "groups and resources of the version can be switched",
			change: config("1.36.3", map[string]bool{
				"batch/v1": false, "v1/limitranges": true, "resource.k8s.io/v1beta2": true, "storage.k8s.io/v1beta1/volumeattributesclasses": true,
			}),
		},
		"API-VALSHOOT-16 unknown": {
			reason: "others cannot",
			change: config("1.36.3", map[string]bool{"example.org/v1": true, "apps/v7": false, "apps/v1/pods": true}),
			want: []string{
				at + "[apps/v1/pods]: FieldValueInvalid", at + "[apps/v7]: FieldValueInvalid", at + "[example.org/v1]: FieldValueInvalid",
			},
		},
		"API-VALSHOOT-16 other version": {
			reason: "nor those of other versions",
			change: config("1.31.1", map[string]bool{"resource.k8s.io/v1beta2": true, "coordination.k8s.io/v1alpha1": true}),
			want:   []string{at + "[resource.k8s.io/v1beta2]: FieldValueForbidden"},
		},
		"API-VALSHOOT-16 needed": {
			reason: "what a cluster needs stays on, as a whole and in parts",
			change: config("1.36.3", map[string]bool{
				"v1": false, "apps/v1": false, "apps/v1/deployments": false, "coordination.k8s.io/v1": false, "storage.k8s.io/v1/csinodes": false,
			}),
			want: []string{
				at + "[apps/v1/deployments]: FieldValueForbidden", at + "[apps/v1]: FieldValueForbidden",
				at + "[coordination.k8s.io/v1]: FieldValueForbidden", at + "[storage.k8s.io/v1/csinodes]: FieldValueForbidden",
				at + "[v1]: FieldValueForbidden",
			},
		},
		"API-VALSHOOT-16 workerless": {
			reason: "without nodes less is needed",
			change: func(s *gardencorev1beta1.Shoot) {
				s.Spec.Provider.Workers, s.Spec.CredentialsBindingName, s.Spec.Networking = nil, nil, nil
				config("1.36.3", map[string]bool{"apps/v1": false, "networking.k8s.io/v1/networkpolicies": false})(s)
			},
			want: []string{at + "[networking.k8s.io/v1/networkpolicies]: FieldValueForbidden"},
		},
	})
}

func TestRemovedFields(t *testing.T) {
	t.Parallel()
	const k = "spec.kubernetes."
	former := func(s *gardencorev1beta1.Shoot) {
		s.Spec.CloudProfileName, s.Spec.SecretBindingName, s.Spec.CredentialsBindingName = new("local"), new("local"), nil
		s.Spec.Addons = &gardencorev1beta1.Addons{}
		s.Spec.Kubernetes.KubeAPIServer = &gardencorev1beta1.KubeAPIServerConfig{
			EnableAnonymousAuthentication: new(false), WatchCacheSizes: &gardencorev1beta1.WatchCacheSizes{Default: new(int32(1))},
		}
		s.Spec.Kubernetes.KubeControllerManager = &gardencorev1beta1.KubeControllerManagerConfig{PodEvictionTimeout: lasting(time.Second)}
		s.Spec.Kubernetes.KubeScheduler = &gardencorev1beta1.KubeSchedulerConfig{KubeMaxPDVols: new("8")}
		s.Spec.Kubernetes.ClusterAutoscaler = &gardencorev1beta1.ClusterAutoscaler{
			MaxEmptyBulkDelete: new(int32(1)), IgnoreTaints: []string{"a"},
		}
	}
	var want []string
	for _, step := range []struct {
		version string
		gone    []string
	}{
		{"1.31.1", nil},
		{"1.32.1", nil},
		{"1.33.1", []string{k + "clusterAutoscaler.ignoreTaints", k + "clusterAutoscaler.maxEmptyBulkDelete", k + "kubeControllerManager.podEvictionTimeout"}},
		{"1.34.1", []string{"spec.cloudProfileName", "spec.secretBindingName"}},
		{"1.35.1", []string{
			"spec.addons", k + "kubeAPIServer.enableAnonymousAuthentication", k + "kubeAPIServer.watchCacheSizes.default",
			k + "kubeScheduler.kubeMaxPDVols",
		}},
	} {
		for _, path := range step.gone {
			want = append(want, path+": FieldValueForbidden")
		}
		slices.Sort(want)
		if diff := cmp.Diff(want, checktest.Complaints(validation.ValidateShoot(shoot(former, onVersion(step.version))))); diff != "" {
			t.Errorf("%s\nValidateShoot(...) (-want +got):\n%s", "fields go with versions: "+step.version, diff)
		}
	}
}

func TestValidateKubeletForms(t *testing.T) {
	t.Parallel()
	const at = "spec.kubernetes.kubelet."
	negative := resource.MustParse("-1")
	policy := gardencorev1beta1.ImagePullCredentialsVerificationPolicyAlwaysVerify
	listed := gardencorev1beta1.ImagePullCredentialsVerificationPolicyNeverVerifyAllowlistedImages
	checkShoots(t, map[string]shootCase{
		"evictions": {
			reason: "thresholds are quantities or percentages",
			change: kubelet(gardencorev1beta1.KubeletConfig{
				EvictionHard: &gardencorev1beta1.KubeletConfigEviction{
					MemoryAvailable: new("100Mi"), NodeFSAvailable: new("5%"), ImageFSAvailable: new("lots"), ImageFSInodesFree: new("110%"),
				},
				EvictionSoft:            &gardencorev1beta1.KubeletConfigEviction{NodeFSInodesFree: new("-1%"), MemoryAvailable: new("1e99999999")},
				EvictionMinimumReclaim:  &gardencorev1beta1.KubeletConfigEvictionMinimumReclaim{NodeFSInodesFree: &negative},
				EvictionSoftGracePeriod: &gardencorev1beta1.KubeletConfigEvictionSoftGracePeriod{NodeFSInodesFree: lasting(-1)},
			}),
			want: []string{
				at + "evictionHard.imageFSAvailable: FieldValueInvalid", at + "evictionHard.imageFSInodesFree: FieldValueInvalid",
				at + "evictionMinimumReclaim.nodeFSInodesFree: FieldValueInvalid",
				at + "evictionSoft.memoryAvailable: FieldValueInvalid", at + "evictionSoft.nodeFSInodesFree: FieldValueInvalid",
				at + "evictionSoftGracePeriod.nodeFSInodesFree: FieldValueInvalid",
			},
		},
		"bounds": {
			reason: "logs and connections have limits",
			change: kubelet(gardencorev1beta1.KubeletConfig{
				ContainerLogMaxSize: &negative, StreamingConnectionIdleTimeout: lasting(29 * time.Second),
				MaxParallelImagePulls: new(int32(2)), SerializeImagePulls: new(true),
			}),
			want: []string{
				at + "containerLogMaxSize: FieldValueInvalid", at + "maxParallelImagePulls: FieldValueForbidden",
				at + "streamingConnectionIdleTimeout: FieldValueInvalid",
			},
		},
		"idle": {
			reason: "connections are not kept for ever",
			change: kubelet(gardencorev1beta1.KubeletConfig{StreamingConnectionIdleTimeout: lasting(4*time.Hour + 1)}),
			want:   []string{at + "streamingConnectionIdleTimeout: FieldValueInvalid"},
		},
		"swap without gate": {
			reason: "swap needs its gate",
			change: kubelet(gardencorev1beta1.KubeletConfig{
				FailSwapOn: new(false), MemorySwap: &gardencorev1beta1.MemorySwapConfiguration{SwapBehavior: new(gardencorev1beta1.SwapBehaviorLimitedSwap)},
			}),
			want: []string{at + "memorySwap: FieldValueForbidden"},
		},
		"swap": {
			reason: "with it, it is fine",
			change: kubelet(gardencorev1beta1.KubeletConfig{
				KubernetesConfig: gated("NodeSwap"), FailSwapOn: new(false),
				MemorySwap: &gardencorev1beta1.MemorySwapConfiguration{SwapBehavior: new(gardencorev1beta1.SwapBehaviorLimitedSwap)},
			}),
		},
		"images": {
			reason: "who may use an image of the node is known",
			change: kubelet(gardencorev1beta1.KubeletConfig{
				ImagePullCredentialsVerificationPolicy: new(gardencorev1beta1.ImagePullCredentialsVerificationPolicy("Sometimes")),
				PreloadedImagesVerificationAllowlist:   []string{"example.org/a"},
			}),
			want: []string{
				at + "imagePullCredentialsVerificationPolicy: FieldValueNotSupported", at + "preloadedImagesVerificationAllowlist: FieldValueForbidden",
			},
		},
		"images listed": {
			reason: "images are listed without tags",
			change: kubelet(gardencorev1beta1.KubeletConfig{
				ImagePullCredentialsVerificationPolicy: &listed,
				PreloadedImagesVerificationAllowlist:   []string{"example.org:5000/a", "example.org/*", "a:latest", "a@sha256:b", "a*"},
			}),
			want: []string{
				at + "preloadedImagesVerificationAllowlist[2]: FieldValueInvalid", at + "preloadedImagesVerificationAllowlist[3]: FieldValueInvalid",
				at + "preloadedImagesVerificationAllowlist[4]: FieldValueInvalid",
			},
		},
		"images of an older version": {
			reason: "which an older kubelet looks at with its gate only",
			change: func(s *gardencorev1beta1.Shoot) {
				s.Spec.Kubernetes.Version = "1.34.1"
				s.Spec.Kubernetes.Kubelet = &gardencorev1beta1.KubeletConfig{ImagePullCredentialsVerificationPolicy: &policy}
			},
			want: []string{at + "imagePullCredentialsVerificationPolicy: FieldValueForbidden"},
		},
		"images with the gate": {
			reason: "with it, it does",
			change: func(s *gardencorev1beta1.Shoot) {
				s.Spec.Kubernetes.Version = "1.34.1"
				s.Spec.Kubernetes.Kubelet = &gardencorev1beta1.KubeletConfig{
					KubernetesConfig: gated("KubeletEnsureSecretPulledImages"), ImagePullCredentialsVerificationPolicy: &policy,
				}
			},
		},
	})
}

func TestValidateControlPlaneForms(t *testing.T) {
	t.Parallel()
	const server = "spec.kubernetes.kubeAPIServer."
	amounts := func(pairs ...string) map[string]resource.Quantity {
		all := map[string]resource.Quantity{}
		for i := 0; i < len(pairs); i += 2 {
			all[pairs[i]] = resource.MustParse(pairs[i+1])
		}
		return all
	}
	least := func(pairs ...string) *gardencorev1beta1.ControlPlaneAutoscaling {
		return &gardencorev1beta1.ControlPlaneAutoscaling{MinAllowed: amounts(pairs...)}
	}
	checkShoots(t, map[string]shootCase{
		"issuers": {
			reason: "issuers are found by https",
			change: apiServer(gardencorev1beta1.KubeAPIServerConfig{ServiceAccountConfig: &gardencorev1beta1.ServiceAccountConfig{
				Issuer: new("http://a.example.org"), AcceptedIssuers: []string{"https://b.example.org?x=y", "https://c.example.org", "https://c.example.org"},
			}}),
			want: []string{
				server + "serviceAccountConfig.acceptedIssuers[0]: FieldValueInvalid", server + "serviceAccountConfig.acceptedIssuers[2]: FieldValueDuplicate",
				server + "serviceAccountConfig.issuer: FieldValueInvalid",
			},
		},
		"audiences": {
			reason: "audiences are a list",
			change: apiServer(gardencorev1beta1.KubeAPIServerConfig{APIAudiences: []string{"a", "a", "b,c"}, TLSMinVersion: new("SSL3")}),
			want: []string{
				server + "apiAudiences[1]: FieldValueDuplicate", server + "apiAudiences[2]: FieldValueInvalid", server + "tlsMinVersion: FieldValueNotSupported",
			},
		},
		"plugins": {
			reason: "only some plugins take a configuration or a kubeconfig, and PodSecurity takes its own",
			change: apiServer(gardencorev1beta1.KubeAPIServerConfig{AdmissionPlugins: []gardencorev1beta1.AdmissionPlugin{
				{Name: "PodSecurity", Config: &runtime.RawExtension{Raw: []byte(`{"apiVersion":"pod-security.admission.config.k8s.io/v1","kind":"Other"}`)}},
				{Name: "AlwaysAdmit", Config: &runtime.RawExtension{Raw: []byte(`{}`)}},
				{Name: "PodNodeSelector", KubeconfigSecretName: new("a")},
				{Name: "ValidatingAdmissionWebhook", KubeconfigSecretName: new("a")},
			}}),
			want: []string{
				server + "admissionPlugins[0].config: FieldValueInvalid", server + "admissionPlugins[1].config: FieldValueForbidden",
				server + "admissionPlugins[2].kubeconfigSecretName: FieldValueForbidden",
			},
		},
		"PodSecurity": {
			reason: "this is one",
			change: apiServer(gardencorev1beta1.KubeAPIServerConfig{AdmissionPlugins: []gardencorev1beta1.AdmissionPlugin{{
				Name: "PodSecurity", Config: &runtime.RawExtension{Raw: []byte(
					`{"apiVersion":"pod-security.admission.config.k8s.io/v1","kind":"PodSecurityConfiguration","defaults":{"enforce":"baseline"}}`)},
			}}}),
		},
		"structured": {
			reason: "a configuration that is not read is none",
			change: apiServer(gardencorev1beta1.KubeAPIServerConfig{
				KubernetesConfig:         gated("AnonymousAuthConfigurableEndpoints"),
				StructuredAuthentication: &gardencorev1beta1.StructuredAuthentication{},
				StructuredAuthorization:  &gardencorev1beta1.StructuredAuthorization{ConfigMapName: "a"},
			}),
			want: []string{
				server + "structuredAuthentication.configMapName: FieldValueForbidden", server + "structuredAuthorization.kubeconfigs: FieldValueRequired",
			},
		},
		"encryption": {
			reason: "what is stored under another name, or is no resource, is not encrypted under its own",
			change: apiServer(gardencorev1beta1.KubeAPIServerConfig{EncryptionConfig: &gardencorev1beta1.EncryptionConfig{
				Resources: []string{"events.events.k8s.io", "ingresses.extensions", "serviceipallocations", ""},
			}}),
			want: []string{
				server + "encryptionConfig.resources[0]: FieldValueInvalid", server + "encryptionConfig.resources[1]: FieldValueInvalid",
				server + "encryptionConfig.resources[2]: FieldValueInvalid", server + "encryptionConfig.resources[3]: FieldValueInvalid",
			},
		},
		"least": {
			reason: "a control plane needs something to run on",
			change: func(s *gardencorev1beta1.Shoot) {
				s.Spec.Kubernetes.KubeAPIServer = &gardencorev1beta1.KubeAPIServerConfig{Autoscaling: least("cpu", "19m", "memory", "200M", "storage", "1")}
				s.Spec.Kubernetes.ETCD = &gardencorev1beta1.ETCD{
					Main: &gardencorev1beta1.ETCDConfig{Autoscaling: least("memory", "299M")}, Events: &gardencorev1beta1.ETCDConfig{Autoscaling: least()},
				}
			},
			want: []string{
				"spec.kubernetes.etcd.events.autoscaling.minAllowed: FieldValueRequired", "spec.kubernetes.etcd.main.autoscaling.minAllowed.memory: FieldValueInvalid",
				server + "autoscaling.minAllowed.cpu: FieldValueInvalid", server + "autoscaling.minAllowed.storage: FieldValueNotSupported",
			},
		},
		"controller manager": {
			reason: "what is done again and again is not done all the time",
			change: func(s *gardencorev1beta1.Shoot) {
				s.Spec.Kubernetes.KubeControllerManager = &gardencorev1beta1.KubeControllerManagerConfig{
					NodeMonitorGracePeriod: lasting(0),
					HorizontalPodAutoscaler: &gardencorev1beta1.HorizontalPodAutoscalerConfig{
						SyncPeriod: lasting(time.Second - 1), Tolerance: new(float64(0)), DownscaleStabilization: lasting(time.Second), InitialReadinessDelay: lasting(0),
					},
				}
			},
			want: []string{
				"spec.kubernetes.kubeControllerManager.horizontalPodAutoscaler.initialReadinessDelay: FieldValueInvalid",
				"spec.kubernetes.kubeControllerManager.horizontalPodAutoscaler.syncPeriod: FieldValueInvalid",
				"spec.kubernetes.kubeControllerManager.horizontalPodAutoscaler.tolerance: FieldValueInvalid",
				"spec.kubernetes.kubeControllerManager.nodeMonitorGracePeriod: FieldValueInvalid",
			},
		},
		"volumes of a node": {
			reason: "a number is a number",
			change: func(s *gardencorev1beta1.Shoot) {
				s.Spec.Kubernetes.Version = "1.34.1"
				s.Spec.Kubernetes.KubeScheduler = &gardencorev1beta1.KubeSchedulerConfig{KubeMaxPDVols: new("x")}
			},
			want: []string{"spec.kubernetes.kubeScheduler.kubeMaxPDVols: FieldValueInvalid"},
		},
		"vertical": {
			reason: "of what a component may take, something is left",
			change: func(s *gardencorev1beta1.Shoot) {
				s.Spec.Kubernetes.VerticalPodAutoscaler = &gardencorev1beta1.VerticalPodAutoscaler{
					FeatureGates: gated("InPlace", "Nonsense").FeatureGates, EvictionRateBurst: new(int32(-1)), EvictionTolerance: new(1.0),
					RecommendationMarginFraction: new(math.NaN()), RecommenderUpdateWorkerCount: new(int64(0)), TargetCPUPercentile: new(1.1),
					MaxAllowed: amounts("pods", "1", "cpu", "-1"),
				}
			},
			want: []string{
				"spec.kubernetes.verticalPodAutoscaler.evictionRateBurst: FieldValueInvalid",
				"spec.kubernetes.verticalPodAutoscaler.evictionTolerance: FieldValueInvalid",
				"spec.kubernetes.verticalPodAutoscaler.featureGates.Nonsense: FieldValueInvalid",
				"spec.kubernetes.verticalPodAutoscaler.maxAllowed.cpu: FieldValueInvalid",
				"spec.kubernetes.verticalPodAutoscaler.maxAllowed.pods: FieldValueNotSupported",
				"spec.kubernetes.verticalPodAutoscaler.recommendationMarginFraction: FieldValueInvalid",
				"spec.kubernetes.verticalPodAutoscaler.recommenderUpdateWorkerCount: FieldValueInvalid",
				"spec.kubernetes.verticalPodAutoscaler.targetCPUPercentile: FieldValueInvalid",
			},
		},
		"taints of the autoscaler": {
			reason: "keys of taints are keys, each once, and not the garden's",
			change: scaled(gardencorev1beta1.ClusterAutoscaler{
				StartupTaints: []string{"a", "a", "b c"}, StatusTaints: []string{"node.gardener.cloud/critical-components-not-ready"},
			}),
			want: []string{
				"spec.kubernetes.clusterAutoscaler.startupTaints[1]: FieldValueDuplicate", "spec.kubernetes.clusterAutoscaler.startupTaints[2]: FieldValueInvalid",
				"spec.kubernetes.clusterAutoscaler.statusTaints[0]: FieldValueForbidden",
			},
		},
		"former name": {
			reason: "both names say the same",
			change: func(s *gardencorev1beta1.Shoot) {
				s.Spec.Kubernetes.Version = "1.32.1"
				s.Spec.Kubernetes.ClusterAutoscaler = &gardencorev1beta1.ClusterAutoscaler{MaxEmptyBulkDelete: new(int32(1)), MaxScaleDownParallelism: new(int32(2))}
			},
			want: []string{"spec.kubernetes.clusterAutoscaler.maxEmptyBulkDelete: FieldValueInvalid"},
		},
	})
}
