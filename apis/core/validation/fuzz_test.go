// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/core/validation"
)

// FuzzShootTexts puts texts wherever a member of a project writes one that a parser reads: cron expressions, time zones,
// ranges of addresses, versions, quantities, selectors, URLs, mail addresses, certificates, percentages. Whatever the text,
// validation answers.
func FuzzShootTexts(f *testing.F) {
	for _, text := range []string{
		"", "0 20 * * *", "TZ=0", "CRON_TZ=", "CRON_TZ=UTC 0 20 * * *", "@every 1h", "@daily", "*/0 * * * *", "0-0/0 ? L W #",
		"Europe/Berlin", "../../etc/passwd", "Local", "10.0.0.0/8", "fd00::/129", "::ffff:10.0.0.0/8", "1.36.3", "01.02.03", "1.36", "v1-+",
		"100Mi", "1e99999999", "-1", "110%", "%", "https://[::1", "https://a?b#c", "a@b", "\"a\" <b@c>", "=,!in()", "a in (b,c)",
		"-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----", "220000+0100", "rollout-workers=*,", ";;", "net.ipv4.*", "{\"apiVersion\":1}",
	} {
		f.Add(text, text)
	}
	f.Fuzz(func(_ *testing.T, a, b string) {
		now, old := shoot(filled(a)), shoot(filled(b))
		gardencorev1beta1.SetDefaultsShoot(now)
		validation.ValidateShoot(now)
		validation.ValidateShootUpdate(now, old)
		validation.ValidateShootBindingUpdate(now, old)
		validation.ValidateShootStatusUpdate(now, old)
	})
}

func filled(text string) shootChange {
	return func(s *gardencorev1beta1.Shoot) {
		s.Annotations = map[string]string{
			"gardener.cloud/operation": text, "maintenance.gardener.cloud/operation": text, "confirmation.gardener.cloud/force-deletion": text,
		}
		s.Spec.Kubernetes.Version = text
		s.Spec.Hibernation = &gardencorev1beta1.Hibernation{Schedules: []gardencorev1beta1.HibernationSchedule{{Start: &text, End: &text, Location: &text}}}
		s.Spec.Maintenance = &gardencorev1beta1.Maintenance{TimeWindow: &gardencorev1beta1.MaintenanceTimeWindow{Begin: text, End: text}}
		s.Spec.Networking = &gardencorev1beta1.Networking{Type: &text, Nodes: &text, Pods: &text, Services: &text}
		s.Spec.SeedSelector = &gardencorev1beta1.SeedSelector{LabelSelector: metav1.LabelSelector{
			MatchLabels:      map[string]string{text: text},
			MatchExpressions: []metav1.LabelSelectorRequirement{{Key: text, Operator: metav1.LabelSelectorOperator(text), Values: []string{text}}},
		}}
		s.Spec.Monitoring = &gardencorev1beta1.Monitoring{Alerting: &gardencorev1beta1.Alerting{EmailReceivers: []string{text}}}
		s.Spec.DNS = &gardencorev1beta1.DNS{Domain: &text, Providers: []gardencorev1beta1.DNSProvider{{Type: &text, SecretName: &text}}}
		s.Spec.Addons = &gardencorev1beta1.Addons{NginxIngress: &gardencorev1beta1.NginxIngress{
			Addon: gardencorev1beta1.Addon{Enabled: true}, LoadBalancerSourceRanges: []string{text}, Config: map[string]string{text: text},
		}}
		s.Spec.Kubernetes.Kubelet = &gardencorev1beta1.KubeletConfig{
			EvictionHard:                         &gardencorev1beta1.KubeletConfigEviction{MemoryAvailable: &text, NodeFSAvailable: &text},
			PreloadedImagesVerificationAllowlist: []string{text},
		}
		s.Spec.Kubernetes.KubeScheduler = &gardencorev1beta1.KubeSchedulerConfig{KubeMaxPDVols: &text}
		s.Spec.Kubernetes.KubeAPIServer = &gardencorev1beta1.KubeAPIServerConfig{
			KubernetesConfig: gated(text), RuntimeConfig: map[string]bool{text: false},
			AdmissionPlugins:     []gardencorev1beta1.AdmissionPlugin{{Name: text}, {Name: "PodSecurity", Config: &runtime.RawExtension{Raw: []byte(text)}}},
			ServiceAccountConfig: &gardencorev1beta1.ServiceAccountConfig{Issuer: &text, AcceptedIssuers: []string{text}},
			OIDCConfig:           &gardencorev1beta1.OIDCConfig{IssuerURL: &text, CABundle: &text},
			EncryptionConfig:     &gardencorev1beta1.EncryptionConfig{Resources: []string{text}},
		}
		// What a decoder makes of an exponent is not validation's business, and takes it long.
		amount := text
		if strings.ContainsAny(amount, "eE") {
			amount = ""
		}
		if q, err := resource.ParseQuantity(amount); err == nil {
			s.Spec.Kubernetes.Kubelet.ContainerLogMaxSize = &q
			s.Spec.Kubernetes.KubeAPIServer.Autoscaling = &gardencorev1beta1.ControlPlaneAutoscaling{MinAllowed: map[string]resource.Quantity{"cpu": q, text: q}}
		}
		s.Status.AdvertisedAddresses = []gardencorev1beta1.ShootAdvertisedAddress{{Name: text, URL: text}}
		w := &s.Spec.Provider.Workers[0]
		w.Name, w.CABundle, w.MaxSurge, w.MaxUnavailable = text, &text, percent(text), percent(text)
		w.Volume = &gardencorev1beta1.Volume{Name: &text, Size: text}
		w.Machine.Image.Version, w.Kubernetes = &text, &gardencorev1beta1.WorkerKubernetes{Version: &text}
		w.Taints, w.Labels, w.Sysctls = []corev1.Taint{{Key: text, Value: text}}, map[string]string{text: text}, map[string]string{text: text}
	}
}
