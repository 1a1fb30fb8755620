// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/core/validation"
)

// laden is a shoot that uses what later versions of Kubernetes do not have.
func laden(version string) *gardencorev1beta1.Shoot {
	gates := func() gardencorev1beta1.KubernetesConfig {
		return gardencorev1beta1.KubernetesConfig{FeatureGates: map[string]bool{"APIListChunking": true, "AllAlpha": false}}
	}
	s := shoot()
	s.Spec.Purpose = new(gardencorev1beta1.ShootPurposeEvaluation)
	s.Spec.Kubernetes = gardencorev1beta1.Kubernetes{
		Version: version,
		KubeAPIServer: &gardencorev1beta1.KubeAPIServerConfig{
			KubernetesConfig: gates(), EnableAnonymousAuthentication: new(false), WatchCacheSizes: &gardencorev1beta1.WatchCacheSizes{Default: new(int32(100))},
			RuntimeConfig:    map[string]bool{"certificates.k8s.io/v1alpha1/podcertificaterequests": true, "resource.k8s.io/v1": true},
			AdmissionPlugins: []gardencorev1beta1.AdmissionPlugin{{Name: "AlwaysPullImages"}},
		},
		KubeControllerManager: &gardencorev1beta1.KubeControllerManagerConfig{KubernetesConfig: gates(), PodEvictionTimeout: &metav1.Duration{Duration: time.Minute}},
		KubeScheduler:         &gardencorev1beta1.KubeSchedulerConfig{KubernetesConfig: gates(), KubeMaxPDVols: new("8")},
		KubeProxy:             &gardencorev1beta1.KubeProxyConfig{KubernetesConfig: gates()},
		Kubelet:               &gardencorev1beta1.KubeletConfig{KubernetesConfig: gates()},
		ClusterAutoscaler:     &gardencorev1beta1.ClusterAutoscaler{MaxEmptyBulkDelete: new(int32(3)), IgnoreTaints: []string{"a"}},
	}
	s.Spec.Addons = &gardencorev1beta1.Addons{NginxIngress: &gardencorev1beta1.NginxIngress{}}
	s.Spec.DNS = &gardencorev1beta1.DNS{Domain: new("a.example.org"), Providers: []gardencorev1beta1.DNSProvider{{
		Type: new("local"), Primary: new(true), SecretName: new("dns"),
		CredentialsRef: &autoscalingv1.CrossVersionObjectReference{APIVersion: "v1", Kind: "Secret", Name: "dns"},
	}}}
	s.Spec.Provider.Workers[0].Kubernetes = &gardencorev1beta1.WorkerKubernetes{Kubelet: &gardencorev1beta1.KubeletConfig{KubernetesConfig: gates()}}
	return s
}

func TestResetUnsupported(t *testing.T) {
	t.Parallel()
	const k = "spec.kubernetes."
	pool := "spec.provider.workers[worker].kubernetes.kubelet.featureGates.APIListChunking"
	at33 := []string{
		k + "kubeAPIServer.featureGates.APIListChunking", k + "kubeControllerManager.podEvictionTimeout", k + "kubeControllerManager.featureGates.APIListChunking",
		k + "kubeScheduler.featureGates.APIListChunking", k + "kubeProxy.featureGates.APIListChunking", k + "kubelet.featureGates.APIListChunking",
		k + "clusterAutoscaler.maxEmptyBulkDelete", k + "clusterAutoscaler.ignoreTaints", pool,
	}
	for name, tc := range map[string]struct {
		reason   string
		from, to string
		want     []string
	}{
		"GCM-MAINT-13 patch": {"the version still has everything", "1.32.1", "1.32.9", []string{k + "kubeAPIServer.runtimeConfig[certificates.k8s.io/v1alpha1/podcertificaterequests]", k + "kubeAPIServer.runtimeConfig[resource.k8s.io/v1]"}},
		"GCM-MAINT-13 1.33":  {"gates and times that are gone", "1.32.1", "1.33.1", append([]string{at33[0], k + "kubeAPIServer.runtimeConfig[certificates.k8s.io/v1alpha1/podcertificaterequests]", k + "kubeAPIServer.runtimeConfig[resource.k8s.io/v1]"}, at33[1:]...)},
		"GCM-MAINT-13 1.35": {"all that older versions had", "1.32.1", "1.35.0", []string{
			k + "kubeAPIServer.enableAnonymousAuthentication", k + "kubeAPIServer.watchCacheSizes.default", at33[0],
			k + "kubeAPIServer.runtimeConfig[certificates.k8s.io/v1alpha1/podcertificaterequests]", at33[1], at33[2],
			k + "kubeScheduler.kubeMaxPDVols", at33[3], at33[4], at33[5], at33[6], at33[7], "spec.addons", "spec.dns.providers[0].secretName", pool,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := laden(tc.from)
			s.Spec.Kubernetes.Version = tc.to
			if diff := cmp.Diff(tc.want, validation.ResetUnsupported(&s.Spec)); diff != "" {
				t.Errorf("%s\nResetUnsupported(...) (-want +got):\n%s", tc.reason, diff)
			}
			if errs := validation.ValidateShoot(s); len(errs) > 0 {
				t.Errorf("%s\nthe shoot is not valid: %v", tc.reason, errs)
			}
			if again := validation.ResetUnsupported(&s.Spec); again != nil {
				t.Errorf("%s\na second time removed %v, want nothing", tc.reason, again)
			}
		})
	}
}

func TestResetUnsupportedOfPools(t *testing.T) {
	t.Parallel()
	s := shoot(poolVersion("1.32.1"))
	s.Spec.Kubernetes.Version = "1.33.0"
	s.Spec.Provider.Workers[0].Kubernetes.Kubelet = &gardencorev1beta1.KubeletConfig{KubernetesConfig: gardencorev1beta1.KubernetesConfig{FeatureGates: map[string]bool{"APIListChunking": true}}}
	if removed := validation.ResetUnsupported(&s.Spec); removed != nil {
		t.Errorf("GCM-MAINT-13: removed %v of a pool that keeps its version", removed)
	}
}

func TestResetUnsupportedOfOthers(t *testing.T) {
	t.Parallel()
	s := shoot(another, another, onVersion("1.36.3"))
	s.Spec.Provider.Workers[1].Kubernetes = &gardencorev1beta1.WorkerKubernetes{}
	s.Spec.DNS = &gardencorev1beta1.DNS{Providers: []gardencorev1beta1.DNSProvider{{Type: new("local"), SecretName: new("dns")}}}
	s.Spec.Kubernetes.KubeAPIServer = &gardencorev1beta1.KubeAPIServerConfig{
		RuntimeConfig:    map[string]bool{"example.org/v1": true},
		AdmissionPlugins: []gardencorev1beta1.AdmissionPlugin{{Name: "PodSecurityPolicy"}, {Name: "Nonsense"}, {Name: "AlwaysAdmit"}},
	}
	want := s.DeepCopy()
	want.Spec.Kubernetes.KubeAPIServer.AdmissionPlugins = want.Spec.Kubernetes.KubeAPIServer.AdmissionPlugins[1:]
	if diff := cmp.Diff([]string{"spec.kubernetes.kubeAPIServer.admissionPlugins[PodSecurityPolicy]"}, validation.ResetUnsupported(&s.Spec)); diff != "" {
		t.Errorf("GCM-MAINT-13: of what a version has nothing is removed, nor of what nobody knows\nResetUnsupported(...) (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want.Spec, s.Spec); diff != "" {
		t.Errorf("GCM-MAINT-13: the rest stays\nspec (-want +got):\n%s", diff)
	}
}

func TestReplacesBinding(t *testing.T) {
	t.Parallel()
	for reason, got := range map[string]bool{
		"GCM-MAINT-13: 1.34 knows no SecretBinding": validation.ReplacesBinding(&shoot(formerly("1.34.0", "a")).Spec),
		"GCM-MAINT-13: 1.33 does":                   !validation.ReplacesBinding(&shoot(formerly("1.33.9", "a")).Spec),
		"GCM-MAINT-13: nor does a shoot that has both": !validation.ReplacesBinding(&shoot(formerly("1.34.0", "a"), func(s *gardencorev1beta1.Shoot) {
			s.Spec.CredentialsBindingName = new("a")
		}).Spec),
		"GCM-MAINT-13: a CredentialsBinding needs no replacement": !validation.ReplacesBinding(&shoot().Spec),
	} {
		if !got {
			t.Error(reason)
		}
	}
}
