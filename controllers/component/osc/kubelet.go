// SPDX-License-Identifier: Apache-2.0

package osc

import (
	"cmp"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kubeletconfigv1beta1 "k8s.io/kubelet/config/v1beta1"
	"sigs.k8s.io/yaml"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
)

// kubeletConfiguration is the configuration file of the kubelets of a pool: safe defaults, then what the owner asks for, the
// pool's own settings in the place of the shoot's.
func kubeletConfiguration(v Values, dns string) *kubeletconfigv1beta1.KubeletConfiguration {
	c := &kubeletconfigv1beta1.KubeletConfiguration{
		TypeMeta: metav1.TypeMeta{APIVersion: kubeletconfigv1beta1.SchemeGroupVersion.String(), Kind: "KubeletConfiguration"},
		Authentication: kubeletconfigv1beta1.KubeletAuthentication{
			Anonymous: kubeletconfigv1beta1.KubeletAnonymousAuthentication{Enabled: new(false)},
			Webhook:   kubeletconfigv1beta1.KubeletWebhookAuthentication{Enabled: new(true), CacheTTL: metav1.Duration{Duration: 2 * time.Minute}},
			X509:      kubeletconfigv1beta1.KubeletX509Authentication{ClientCAFile: kubeletClientCA},
		},
		Authorization:            kubeletconfigv1beta1.KubeletAuthorization{Mode: kubeletconfigv1beta1.KubeletAuthorizationModeWebhook},
		ClusterDNS:               []string{dns},
		ClusterDomain:            gardencorev1beta1.DefaultClusterDomain,
		ContainerRuntimeEndpoint: "unix:///run/containerd/containerd.sock",
		RotateCertificates:       true,
		// The API server and metrics-server verify the kubelets. The resource manager approves what they ask for.
		ServerTLSBootstrap: true,
		// Pods come when those run that they rely on. The resource manager removes the taint (GRM-NODE-1).
		RegisterWithTaints:  []corev1.Taint{{Key: gardencorev1beta1.TaintNodeCriticalComponentsNotReady, Effect: corev1.TaintEffectNoSchedule}},
		ReadOnlyPort:        0,
		EnableServer:        new(true),
		MaxPods:             110,
		SerializeImagePulls: new(true),
		FailSwapOn:          new(true),
		// A Secret that was changed reaches its pods at once, and a node asks for less.
		ConfigMapAndSecretChangeDetectionStrategy: kubeletconfigv1beta1.WatchChangeDetectionStrategy,
		EventRecordQPS: new(int32(50)),
		EvictionHard: map[string]string{
			"memory.available": "100Mi", "nodefs.available": "5%", "nodefs.inodesFree": "5%", "imagefs.available": "5%", "imagefs.inodesFree": "5%",
		},
		KubeReserved: map[string]string{"cpu": "80m", "memory": "1Gi", "pid": "20k"},
	}
	settings := v.Facts.Shoot.Spec.Kubernetes.Kubelet
	if v.Pool.Kubernetes != nil && v.Pool.Kubernetes.Kubelet != nil {
		settings = v.Pool.Kubernetes.Kubelet
	}
	if settings != nil {
		applyLimits(c, settings)
		applyImages(c, settings)
		applyEviction(c, settings)
	}
	return c
}

func applyLimits(c *kubeletconfigv1beta1.KubeletConfiguration, s *gardencorev1beta1.KubeletConfig) {
	c.FeatureGates = s.FeatureGates
	set(&c.MaxPods, s.MaxPods)
	set(&c.CPUManagerPolicy, s.CPUManagerPolicy)
	set(&c.ProtectKernelDefaults, s.ProtectKernelDefaults)
	set(&c.StreamingConnectionIdleTimeout, s.StreamingConnectionIdleTimeout)
	setPointer(&c.PodPidsLimit, s.PodPIDsLimit)
	setPointer(&c.CPUCFSQuota, s.CPUCFSQuota)
	setPointer(&c.FailSwapOn, s.FailSwapOn)
	setPointer(&c.SeccompDefault, s.SeccompDefault)
	setPointer(&c.SingleProcessOOMKill, s.SingleProcessOOMKill)
	if m := s.MemorySwap; m != nil && m.SwapBehavior != nil {
		c.MemorySwap.SwapBehavior = string(*m.SwapBehavior)
	}
	if r := s.KubeReserved; r != nil {
		for name, quantity := range map[string]*resource.Quantity{"cpu": r.CPU, "memory": r.Memory, "pid": r.PID, "ephemeral-storage": r.EphemeralStorage} {
			if quantity != nil {
				c.KubeReserved[name] = quantity.String()
			}
		}
	}
}

func applyImages(c *kubeletconfigv1beta1.KubeletConfiguration, s *gardencorev1beta1.KubeletConfig) {
	setPointer(&c.ImageGCHighThresholdPercent, s.ImageGCHighThresholdPercent)
	setPointer(&c.ImageGCLowThresholdPercent, s.ImageGCLowThresholdPercent)
	set(&c.ImageMinimumGCAge, s.ImageMinimumGCAge)
	set(&c.ImageMaximumGCAge, s.ImageMaximumGCAge)
	setPointer(&c.RegistryPullQPS, s.RegistryPullQPS)
	set(&c.RegistryBurst, s.RegistryBurst)
	setPointer(&c.SerializeImagePulls, s.SerializeImagePulls)
	setPointer(&c.MaxParallelImagePulls, s.MaxParallelImagePulls)
	setPointer(&c.ContainerLogMaxFiles, s.ContainerLogMaxFiles)
	if s.ContainerLogMaxSize != nil {
		c.ContainerLogMaxSize = s.ContainerLogMaxSize.String()
	}
	applyImageCredentials(c, s)
}

// applyImageCredentials leaves out a list that is not asked for, with which a kubelet does not start.
func applyImageCredentials(c *kubeletconfigv1beta1.KubeletConfiguration, s *gardencorev1beta1.KubeletConfig) {
	if s.ImagePullCredentialsVerificationPolicy == nil {
		return
	}
	c.ImagePullCredentialsVerificationPolicy = kubeletconfigv1beta1.ImagePullCredentialsVerificationPolicy(*s.ImagePullCredentialsVerificationPolicy)
	if c.ImagePullCredentialsVerificationPolicy == kubeletconfigv1beta1.NeverVerifyAllowlistedImages {
		c.PreloadedImagesVerificationAllowlist = s.PreloadedImagesVerificationAllowlist
	}
}

func applyEviction(c *kubeletconfigv1beta1.KubeletConfiguration, s *gardencorev1beta1.KubeletConfig) {
	set(&c.EvictionMaxPodGracePeriod, s.EvictionMaxPodGracePeriod)
	set(&c.EvictionPressureTransitionPeriod, s.EvictionPressureTransitionPeriod)
	limits := func(e *gardencorev1beta1.KubeletConfigEviction) map[string]string {
		e = cmp.Or(e, &gardencorev1beta1.KubeletConfigEviction{})
		text := func(limit *string) string { return *limit }
		return signals(text, e.MemoryAvailable, e.NodeFSAvailable, e.NodeFSInodesFree, e.ImageFSAvailable, e.ImageFSInodesFree)
	}
	maps.Copy(c.EvictionHard, limits(s.EvictionHard))
	g := cmp.Or(s.EvictionSoftGracePeriod, &gardencorev1beta1.KubeletConfigEvictionSoftGracePeriod{})
	period := func(d *metav1.Duration) string { return d.Duration.String() }
	grace := signals(period, g.MemoryAvailable, g.NodeFSAvailable, g.NodeFSInodesFree, g.ImageFSAvailable, g.ImageFSInodesFree)
	// The kubelet refuses a soft limit without its grace period.
	for name, limit := range limits(s.EvictionSoft) {
		if period, found := grace[name]; found {
			if c.EvictionSoft == nil {
				c.EvictionSoft, c.EvictionSoftGracePeriod = map[string]string{}, map[string]string{}
			}
			c.EvictionSoft[name], c.EvictionSoftGracePeriod[name] = limit, period
		}
	}
	if m := s.EvictionMinimumReclaim; m != nil {
		c.EvictionMinimumReclaim = signals((*resource.Quantity).String,
			m.MemoryAvailable, m.NodeFSAvailable, m.NodeFSInodesFree, m.ImageFSAvailable, m.ImageFSInodesFree)
	}
}

// signals maps the names of eviction signals to the texts of those values that are set. The values come in the order of the names.
func signals[T any](text func(*T) string, values ...*T) map[string]string {
	out := map[string]string{}
	for i, name := range []string{"memory.available", "nodefs.available", "nodefs.inodesFree", "imagefs.available", "imagefs.inodesFree"} {
		if values[i] != nil {
			out[name] = text(values[i])
		}
	}
	return out
}

func set[T any](into, from *T) {
	if from != nil {
		*into = *from
	}
}

func setPointer[T any](into **T, from *T) {
	if from != nil {
		*into = from
	}
}

// AsksForServingCertificate reports whether the kubelets of a configuration ask the cluster for their serving certificates.
func AsksForServingCertificate(config *gardenextensionsv1alpha1.OperatingSystemConfig) bool {
	for i := range config.Spec.Files {
		file := &config.Spec.Files[i]
		if file.Path != kubeletConfig || file.Content.Inline == nil {
			continue
		}
		settings := &kubeletconfigv1beta1.KubeletConfiguration{}
		return yaml.Unmarshal([]byte(file.Content.Inline.Data), settings) == nil && settings.ServerTLSBootstrap
	}
	return false
}
