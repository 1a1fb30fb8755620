// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

func TestValidateAutoscalers(t *testing.T) {
	t.Parallel()
	const at = "spec.kubernetes.clusterAutoscaler."
	vertical := func(v gardencorev1beta1.VerticalPodAutoscaler) shootChange {
		return func(s *gardencorev1beta1.Shoot) { s.Spec.Kubernetes.VerticalPodAutoscaler = &v }
	}
	checkShoots(t, map[string]shootCase{
		"fractions":     {reason: "a share lies between 0 and 1", change: scaled(gardencorev1beta1.ClusterAutoscaler{ScaleDownUtilizationThreshold: new(0.5)})},
		"all":           {reason: "1 is a share", change: scaled(gardencorev1beta1.ClusterAutoscaler{ScaleDownUtilizationThreshold: new(1.0)})},
		"more than all": {reason: "but not more", change: scaled(gardencorev1beta1.ClusterAutoscaler{ScaleDownUtilizationThreshold: new(1.1)}), want: []string{at + "scaleDownUtilizationThreshold: FieldValueInvalid"}},
		"expanders":     {reason: "pools are chosen by one way after the other", change: scaled(gardencorev1beta1.ClusterAutoscaler{Expander: new(gardencorev1beta1.ExpanderMode("priority,least-waste"))})},
		"expander": {
			reason: "which are known", change: scaled(gardencorev1beta1.ClusterAutoscaler{Expander: new(gardencorev1beta1.ExpanderMode("priority,dice"))}),
			want: []string{at + "expander: FieldValueNotSupported"},
		},
		"former name": {
			reason: "both names may say the same",
			change: func(s *gardencorev1beta1.Shoot) {
				s.Spec.Kubernetes.Version = "1.32.1"
				s.Spec.Kubernetes.ClusterAutoscaler = &gardencorev1beta1.ClusterAutoscaler{MaxEmptyBulkDelete: new(int32(2)), MaxScaleDownParallelism: new(int32(2))}
			},
		},
		"tolerances": {reason: "a tolerance is a share", change: vertical(gardencorev1beta1.VerticalPodAutoscaler{EvictionTolerance: new(0.0), RecommendationMarginFraction: new(0.15)})},
		"tolerances bounds": {
			reason: "but not negative, nor all", change: vertical(gardencorev1beta1.VerticalPodAutoscaler{EvictionTolerance: new(-0.1), RecommendationMarginFraction: new(1.0)}),
			want: []string{
				"spec.kubernetes.verticalPodAutoscaler.evictionTolerance: FieldValueInvalid", "spec.kubernetes.verticalPodAutoscaler.recommendationMarginFraction: FieldValueInvalid",
			},
		},
		"most": {
			reason: "amounts without a minimum may be small",
			change: vertical(gardencorev1beta1.VerticalPodAutoscaler{MaxAllowed: map[string]resource.Quantity{"cpu": resource.MustParse("1m"), "memory": resource.MustParse("0")}}),
		},
		"etcd main": {
			reason: "either etcd can be configured alone",
			change: func(s *gardencorev1beta1.Shoot) {
				s.Spec.Kubernetes.ETCD = &gardencorev1beta1.ETCD{Main: &gardencorev1beta1.ETCDConfig{}}
			},
		},
		"etcd events": {
			reason: "the other one too",
			change: func(s *gardencorev1beta1.Shoot) {
				s.Spec.Kubernetes.ETCD = &gardencorev1beta1.ETCD{Events: &gardencorev1beta1.ETCDConfig{}}
			},
		},
	})
}

func TestValidateKubelets(t *testing.T) {
	t.Parallel()
	const at, own = "spec.kubernetes.kubelet.", "spec.provider.workers[0].kubernetes.kubelet."
	type config = gardencorev1beta1.KubeletConfig
	negative := resource.MustParse("-1")
	ofPool := func(k config) shootChange {
		return pool(func(w *gardencorev1beta1.Worker) { w.Kubernetes = &gardencorev1beta1.WorkerKubernetes{Kubelet: &k} })
	}
	const list, policy = at + "preloadedImagesVerificationAllowlist", at + "imagePullCredentialsVerificationPolicy"
	listed := gardencorev1beta1.ImagePullCredentialsVerificationPolicyNeverVerifyAllowlistedImages
	checkShoots(t, map[string]shootCase{
		"CPU manager": {reason: "processors are managed in a known way", change: kubelet(config{CPUManagerPolicy: new("fair")}), want: []string{at + "cpuManagerPolicy: FieldValueNotSupported"}},
		"one by one":  {reason: "pulls one by one are one at a time", change: kubelet(config{MaxParallelImagePulls: new(int32(1)), SerializeImagePulls: new(true)})},
		"in parallel": {reason: "others are not", change: kubelet(config{MaxParallelImagePulls: new(int32(2)), SerializeImagePulls: new(false)})},
		"reserved":    {reason: "no negative amount is reserved", change: kubelet(config{KubeReserved: &gardencorev1beta1.KubeletConfigReserved{Memory: &negative}}), want: []string{at + "kubeReserved.memory: FieldValueInvalid"}},
		"swap": {
			reason: "swap has no effect on a kubelet that fails with it",
			change: kubelet(config{FailSwapOn: new(true), MemorySwap: &gardencorev1beta1.MemorySwapConfiguration{}}),
			want:   []string{at + "memorySwap: FieldValueForbidden"},
		},
		"swap default": {reason: "without a behaviour no gate is needed", change: kubelet(config{FailSwapOn: new(false), MemorySwap: &gardencorev1beta1.MemorySwapConfiguration{}})},
		"thresholds": {
			reason: "a threshold is a quantity that is not negative, or a percentage",
			change: kubelet(config{
				EvictionHard: &gardencorev1beta1.KubeletConfigEviction{MemoryAvailable: new("1e9"), NodeFSAvailable: new("-100Mi"), ImageFSAvailable: new("x%")},
				EvictionSoft: &gardencorev1beta1.KubeletConfigEviction{NodeFSAvailable: new(strings.Repeat("0", 65))},
			}),
			want: []string{
				at + "evictionHard.imageFSAvailable: FieldValueInvalid", at + "evictionHard.nodeFSAvailable: FieldValueInvalid",
				at + "evictionSoft.nodeFSAvailable: FieldValueInvalid",
			},
		},
		"API-VALSHOOT-17 both": {
			reason: "the defaults do not matter to a pool that sets both thresholds", change: ofPool(config{ImageGCHighThresholdPercent: new(int32(100)), ImageGCLowThresholdPercent: new(int32(90))}),
		},
		"API-VALSHOOT-17 both low": {
			reason: "be they low", change: ofPool(config{ImageGCHighThresholdPercent: new(int32(70)), ImageGCLowThresholdPercent: new(int32(60))}),
		},
		"API-VALSHOOT-17 low fits": {reason: "one that fits may stand alone", change: ofPool(config{ImageGCLowThresholdPercent: new(int32(84))})},
		"API-VALSHOOT-17 low beyond": {
			reason: "one that is no percentage is refused once", change: ofPool(config{ImageGCLowThresholdPercent: new(int32(101))}),
			want: []string{own + "imageGCLowThresholdPercent: FieldValueInvalid"},
		},
		"API-VALSHOOT-17 high beyond": {
			reason: "either one", change: ofPool(config{ImageGCHighThresholdPercent: new(int32(-1))}), want: []string{own + "imageGCHighThresholdPercent: FieldValueInvalid"},
		},
		"images unverified": {
			reason: "a list of images needs the policy that reads it", change: kubelet(config{PreloadedImagesVerificationAllowlist: []string{"a"}}),
			want: []string{list + ": FieldValueForbidden"},
		},
		"images without the gate": {
			reason: "and the gate, in older versions",
			change: func(s *gardencorev1beta1.Shoot) {
				s.Spec.Kubernetes.Version, s.Spec.Kubernetes.Kubelet = "1.34.1", &config{PreloadedImagesVerificationAllowlist: []string{"a"}}
			},
			want: []string{list + ": FieldValueForbidden"},
		},
		"images with the gate off": {
			reason: "which is not disabled in newer ones",
			change: kubelet(config{KubernetesConfig: gated("KubeletEnsureSecretPulledImages=false"), ImagePullCredentialsVerificationPolicy: &listed}),
			want:   []string{policy + ": FieldValueForbidden"},
		},
		"images without a name": {
			reason: "an image has a name", change: kubelet(config{ImagePullCredentialsVerificationPolicy: &listed, PreloadedImagesVerificationAllowlist: []string{"", "/*"}}),
			want: []string{list + "[0]: FieldValueInvalid", list + "[1]: FieldValueInvalid"},
		},
	})
}

func TestValidateSchedulerAndProxy(t *testing.T) {
	t.Parallel()
	type config = gardencorev1beta1.KubeProxyConfig
	const mode = "spec.kubernetes.kubeProxy.mode: FieldValueInvalid"
	proxied := func(version string, p config) shootChange {
		return func(s *gardencorev1beta1.Shoot) { s.Spec.Kubernetes.Version, s.Spec.Kubernetes.KubeProxy = version, &p }
	}
	scheduled := func(k gardencorev1beta1.KubeSchedulerConfig) shootChange {
		return func(s *gardencorev1beta1.Shoot) {
			s.Spec.Kubernetes.Version, s.Spec.Kubernetes.KubeScheduler = "1.34.1", &k
		}
	}
	off := gated("NFTablesProxyMode=false")
	checkShoots(t, map[string]shootCase{
		"profile": {
			reason: "pods are placed in a known way", change: scheduled(gardencorev1beta1.KubeSchedulerConfig{Profile: new(gardencorev1beta1.SchedulingProfile("random"))}),
			want: []string{"spec.kubernetes.kubeScheduler.profile: FieldValueNotSupported"},
		},
		"no volumes": {
			reason: "a node has room for a volume", change: scheduled(gardencorev1beta1.KubeSchedulerConfig{KubeMaxPDVols: new("0")}),
			want: []string{"spec.kubernetes.kubeScheduler.kubeMaxPDVols: FieldValueInvalid"},
		},
		"too many volumes": {
			reason: "for as many as can be counted", change: scheduled(gardencorev1beta1.KubeSchedulerConfig{KubeMaxPDVols: new("99999999999999999999")}),
			want: []string{"spec.kubernetes.kubeScheduler.kubeMaxPDVols: FieldValueInvalid"},
		},
		"volumes":                      {reason: "such as eight", change: scheduled(gardencorev1beta1.KubeSchedulerConfig{KubeMaxPDVols: new("8")})},
		"API-VALSHOOT-17 NFTables":     {reason: "NFTables is a mode", change: proxied("1.36.3", config{Mode: new(gardencorev1beta1.ProxyModeNFTables)})},
		"API-VALSHOOT-17 NFTables on":  {reason: "for which a gate can be enabled", change: proxied("1.31.1", config{KubernetesConfig: gated("NFTablesProxyMode"), Mode: new(gardencorev1beta1.ProxyModeNFTables)})},
		"API-VALSHOOT-17 NFTables off": {reason: "but not disabled", change: proxied("1.31.1", config{KubernetesConfig: off, Mode: new(gardencorev1beta1.ProxyModeNFTables)}), want: []string{mode}},
		"API-VALSHOOT-17 IPVS":         {reason: "which other modes do not need", change: proxied("1.31.1", config{KubernetesConfig: off, Mode: new(gardencorev1beta1.ProxyModeIPVS)})},
	})
}

func TestValidateAddons(t *testing.T) {
	t.Parallel()
	type addons = gardencorev1beta1.Addons
	on := gardencorev1beta1.Addon{Enabled: true}
	added := func(purpose gardencorev1beta1.ShootPurpose, a addons) shootChange {
		return func(s *gardencorev1beta1.Shoot) {
			s.Spec.Kubernetes.Version, s.Spec.Purpose, s.Spec.Addons = "1.34.0", &purpose, &a
		}
	}
	const forbidden = "spec.addons: FieldValueForbidden"
	checkShoots(t, map[string]shootCase{
		"API-VALSHOOT-13 disabled":  {reason: "addons that are off are for every purpose", change: added("production", addons{NginxIngress: &gardencorev1beta1.NginxIngress{}})},
		"API-VALSHOOT-13 dashboard": {reason: "the dashboard is for evaluation", change: added("production", addons{KubernetesDashboard: &gardencorev1beta1.KubernetesDashboard{Addon: on}}), want: []string{forbidden}},
		"API-VALSHOOT-13 default":   {reason: "users of a dashboard log in as is usual", change: added("evaluation", addons{KubernetesDashboard: &gardencorev1beta1.KubernetesDashboard{Addon: on}})},
		"API-VALSHOOT-7 addons": {
			reason: "a shoot without workers has no addons, which is said once",
			change: func(s *gardencorev1beta1.Shoot) {
				added("evaluation", addons{NginxIngress: &gardencorev1beta1.NginxIngress{Addon: on}})(s)
				s.Spec.Kubernetes.Version = "1.36.3"
				s.Spec.Provider.Workers, s.Spec.CredentialsBindingName, s.Spec.Networking = nil, nil, nil
			},
			want: []string{forbidden},
		},
		"large": {
			reason: "a configuration fits into a ConfigMap",
			change: added("evaluation", addons{NginxIngress: &gardencorev1beta1.NginxIngress{Addon: on, Config: map[string]string{"a": strings.Repeat("b", 1<<20+1)}}}),
			want:   []string{"spec.addons.nginxIngress.config: FieldValueTooLong"},
		},
	})
}
