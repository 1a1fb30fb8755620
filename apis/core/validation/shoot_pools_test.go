// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

func TestValidatePools(t *testing.T) {
	t.Parallel()
	const at = "spec.provider.workers[0]."
	type (
		worker = gardencorev1beta1.Worker
		data   = gardencorev1beta1.DataVolume
	)
	amounts := func(surge, unavailable intstr.IntOrString) shootChange {
		return pool(func(w *worker) { w.MaxSurge, w.MaxUnavailable = &surge, &unavailable })
	}
	sized := func(size string) shootChange {
		return pool(func(w *worker) { w.Volume = &gardencorev1beta1.Volume{Size: size} })
	}
	kept := func(name string, all ...data) shootChange {
		return pool(func(w *worker) {
			w.Volume, w.DataVolumes, w.KubeletDataVolumeName = &gardencorev1beta1.Volume{Size: "1Gi"}, all, &name
		})
	}
	settings := func(name string) shootChange {
		return pool(func(w *worker) { w.Sysctls = map[string]string{name: "1"} })
	}
	const surge, unavailable = at + "maxSurge: FieldValueInvalid", at + "maxUnavailable: FieldValueInvalid"
	checkShoots(t, map[string]shootCase{
		"API-VALSHOOT-8 negative": {
			reason: "there are no negative numbers of machines", change: pool(func(w *worker) { w.Minimum, w.Maximum, w.Zones = -1, -1, nil }),
			want: []string{at + "maximum: FieldValueForbidden", at + "maximum: FieldValueInvalid", at + "minimum: FieldValueInvalid"},
		},
		"API-VALSHOOT-8 no surge":       {reason: "machines can be taken away before others come", change: amounts(intstr.FromInt(0), intstr.FromInt(1))},
		"API-VALSHOOT-8 no gap":         {reason: "or the other way round", change: amounts(intstr.FromString("10%"), intstr.FromString("0%"))},
		"API-VALSHOOT-8 both":           {reason: "or at once", change: amounts(intstr.FromInt(1), intstr.FromInt(1))},
		"API-VALSHOOT-8 negative surge": {reason: "a number of machines is not negative", change: amounts(intstr.FromInt(-1), intstr.FromInt(1)), want: []string{surge}},
		"API-VALSHOOT-8 no percentage":  {reason: "a percentage has digits", change: amounts(intstr.FromString("x%"), intstr.FromInt(1)), want: []string{surge}},
		"API-VALSHOOT-8 no sign":        {reason: "and a sign", change: amounts(intstr.FromInt(1), intstr.FromString("10")), want: []string{unavailable}},
		"API-VALSHOOT-8 whole":          {reason: "a share can be all", change: amounts(intstr.FromString("100%"), intstr.FromString("100%"))},
		"by hand": {
			reason: "who updates machines by hand decides how many",
			change: pool(func(w *worker) {
				w.UpdateStrategy, w.MaxUnavailable = new(gardencorev1beta1.MachineUpdateStrategyManualInPlaceUpdate), percent("10%")
			}),
			want: []string{unavailable},
		},
		"API-VALSHOOT-8 unit":         {reason: "sizes are in gibibytes", change: sized("20"), want: []string{at + "volume.size: FieldValueInvalid"}},
		"API-VALSHOOT-8 no size":      {reason: "some of them", change: sized("Gi"), want: []string{at + "volume.size: FieldValueInvalid"}},
		"API-VALSHOOT-8 fraction":     {reason: "whole ones", change: sized("1.5Gi"), want: []string{at + "volume.size: FieldValueInvalid"}},
		"API-VALSHOOT-8 kubelet data": {reason: "a kubelet can keep its data on a data volume", change: kept("a", data{Name: "b", Size: "1Gi"}, data{Name: "a", Size: "1Gi"})},
		"API-NAME-5 no name": {
			reason: "a data volume has a name", change: kept("a", data{Name: "a", Size: "1Gi"}, data{Size: "1Gi"}), want: []string{at + "dataVolumes[1].name: FieldValueRequired"},
		},
		"API-VALSHOOT-9 allowed": {
			reason: "a pool can allow system components by its settings", change: pool(func(w *worker) { w.SystemComponents = &gardencorev1beta1.WorkerSystemComponents{Allow: true} }),
		},
		"API-VALSHOOT-9 no machine": {
			reason: "a pool without machines runs none", change: pool(func(w *worker) { w.Minimum, w.Maximum = 0, 0 }), want: []string{"spec.provider.workers: FieldValueForbidden"},
		},
		"runtime": {
			reason: "machines run containers in a known way",
			change: pool(func(w *worker) {
				w.CRI = &gardencorev1beta1.CRI{Name: "docker", ContainerRuntimes: []gardencorev1beta1.ContainerRuntime{{Type: "a"}, {Type: "a"}, {}}}
			}),
			want: []string{
				at + "cri.containerRuntimes[1].type: FieldValueDuplicate", at + "cri.containerRuntimes[2].type: FieldValueRequired", at + "cri.name: FieldValueNotSupported",
			},
		},
		"taints": {
			reason: "a taint stands once, whatever its value",
			change: pool(func(w *worker) {
				w.Taints = []corev1.Taint{{Key: "a", Value: "b", Effect: "NoSchedule"}, {Key: "a", Effect: "NoExecute"}, {Key: "a", Effect: "NoSchedule"}}
			}),
			want: []string{at + "taints[2]: FieldValueDuplicate"},
		},
		"autoscaling": {
			reason: "a pool is scaled at some share of its use",
			change: pool(func(w *worker) {
				w.ClusterAutoscaler = &gardencorev1beta1.ClusterAutoscalerOptions{
					ScaleDownUtilizationThreshold: new(1.1), ScaleDownGPUUtilizationThreshold: new(0.5), ScaleDownUnneededTime: lasting(-time.Second),
				}
			}),
			want: []string{at + "clusterAutoscaler.scaleDownUnneededTime: FieldValueInvalid", at + "clusterAutoscaler.scaleDownUtilizationThreshold: FieldValueInvalid"},
		},
		"in place": {
			reason: "updates in place have settings of their own",
			change: pool(func(w *worker) {
				w.UpdateStrategy = new(gardencorev1beta1.MachineUpdateStrategyAutoInPlaceUpdate)
				w.MachineControllerManager = &gardencorev1beta1.MachineControllerManagerSettings{InPlaceUpdateTimeout: lasting(time.Minute), DisableHealthTimeout: new(true)}
			}),
		},
		"rolling": {
			reason: "which machines that are replaced need not have",
			change: pool(func(w *worker) {
				w.UpdateStrategy = new(gardencorev1beta1.MachineUpdateStrategyAutoRollingUpdate)
				w.MachineControllerManager = &gardencorev1beta1.MachineControllerManagerSettings{DisableHealthTimeout: new(false), MaxEvictRetries: new(int32(1))}
			}),
		},
		"sysctl file":       {reason: "a name can be that of a file", change: settings("net/ipv4/ip_forward")},
		"sysctl parts":      {reason: "a part may end in a hyphen, the next one begin with an underscore", change: settings("a-._b")},
		"sysctl first part": {reason: "but not the first one", change: settings("_a.b"), want: []string{at + "sysctls._a.b: FieldValueInvalid"}},
		"sysctl path":       {reason: "nor a part begin with a slash", change: settings("a./b.c"), want: []string{at + "sysctls.a./b.c: FieldValueInvalid"}},
		"sysctl end":        {reason: "the last part ends in a letter or a digit", change: settings("a.b-"), want: []string{at + "sysctls.a.b-: FieldValueInvalid"}},
		"sysctl long": {
			reason: "a path has a length", change: settings(strings.Repeat("a.", 2043) + "a"), want: []string{at + "sysctls." + strings.Repeat("a.", 2043) + "a: FieldValueTooLong"},
		},
	})
}

func TestValidatePoolVersions(t *testing.T) {
	t.Parallel()
	const at, version = "spec.provider.workers[0].kubernetes.", "spec.provider.workers[0].kubernetes.version: "
	type kubeletConfig = gardencorev1beta1.KubeletConfig
	both := func(shoot, pool string, shared, own *kubeletConfig) shootChange {
		return func(s *gardencorev1beta1.Shoot) {
			s.Spec.Kubernetes.Version, s.Spec.Kubernetes.Kubelet = shoot, shared
			s.Spec.Provider.Workers[0].Kubernetes = &gardencorev1beta1.WorkerKubernetes{Kubelet: own}
			if pool != "" {
				s.Spec.Provider.Workers[0].Kubernetes.Version = &pool
			}
		}
	}
	gated := &kubeletConfig{KubernetesConfig: gated("PodsAPI")}
	checkShoots(t, map[string]shootCase{
		"API-VALSHOOT-6 no version": {reason: "the version of a pool is a version", change: both("1.36.3", "1.36", nil, nil), want: []string{version + "FieldValueInvalid"}},
		"API-VALSHOOT-6 shoot without": {
			reason: "one can be judged beside one of the shoot only", change: both("1.36", "1.35.1", nil, nil), want: []string{"spec.kubernetes.version: FieldValueInvalid"},
		},
		"API-VALSHOOT-6 none of both": {
			reason: "a pool that takes that of the shoot is not at fault", change: both("1.36", "", nil, nil), want: []string{"spec.kubernetes.version: FieldValueInvalid"},
		},
		"API-VALSHOOT-6 major": {reason: "no kubelet is a major version behind", change: both("1.36.3", "0.36.3", nil, nil), want: []string{version + "FieldValueForbidden"}},
		"API-VALSHOOT-17 taken": {
			reason: "what an older pool takes from the shoot has to suit its own version", change: both("1.36.3", "1.34.1", gated, nil),
			want: []string{at + "kubelet.featureGates.PodsAPI: FieldValueForbidden"},
		},
		"API-VALSHOOT-17 own": {reason: "it can have its own settings in place of these", change: both("1.36.3", "1.34.1", gated, &kubeletConfig{})},
		"API-VALSHOOT-17 same": {
			reason: "what is wrong with the settings of the shoot is told once",
			change: both("1.36.3", "", &kubeletConfig{MaxPods: new(int32(-1))}, nil), want: []string{"spec.kubernetes.kubelet.maxPods: FieldValueInvalid"},
		},
	})
}

func TestValidateSelfHosted(t *testing.T) {
	t.Parallel()
	const at = "spec.provider.workers[0].controlPlane"
	type (
		controlPlane = gardencorev1beta1.WorkerControlPlane
		exposure     = gardencorev1beta1.Exposure
	)
	hosting := func(c controlPlane) shootChange {
		return func(s *gardencorev1beta1.Shoot) {
			s.Namespace, s.Spec.CredentialsBindingName, s.Spec.Provider.Workers[0].ControlPlane = "garden", nil, &c
		}
	}
	stored := func(provider string, region *string, namespace string) shootChange {
		return hosting(controlPlane{Backup: &gardencorev1beta1.Backup{
			Provider: provider, Region: region, CredentialsRef: &corev1.ObjectReference{APIVersion: "v1", Kind: "Secret", Namespace: namespace, Name: "a"},
		}})
	}
	checkShoots(t, map[string]shootCase{
		"plain": {reason: "a control plane on machines of the shoot", change: hosting(controlPlane{})},
		"two": {
			reason: "is on one pool",
			change: func(s *gardencorev1beta1.Shoot) {
				hosting(controlPlane{})(s)
				more := s.Spec.Provider.Workers[0].DeepCopy()
				more.Name = "more"
				s.Spec.Provider.Workers = append(s.Spec.Provider.Workers, *more)
			},
			want: []string{"spec.provider.workers[1].controlPlane: FieldValueInvalid"},
		},
		"backup":           {reason: "its backups are where it is", change: stored("local", nil, "garden")},
		"backup elsewhere": {reason: "or in a region of another provider", change: stored("other", new("there"), "garden")},
		"backup nowhere":   {reason: "which is named", change: stored("other", nil, "garden"), want: []string{at + ".backup.region: FieldValueRequired"}},
		"backup of others": {reason: "its credentials are its own", change: stored("local", nil, "elsewhere"), want: []string{at + ".backup.credentialsRef.namespace: FieldValueForbidden"}},
		"backup of nobody": {
			reason: "and are named, like the provider", change: hosting(controlPlane{Backup: &gardencorev1beta1.Backup{Region: new("there")}}),
			want: []string{at + ".backup.credentialsRef: FieldValueRequired", at + ".backup.provider: FieldValueRequired"},
		},
		"exposure":           {reason: "it is reached by an extension", change: hosting(controlPlane{Exposure: &exposure{Extension: &gardencorev1beta1.ExtensionExposure{Type: new("a")}}})},
		"exposure by DNS":    {reason: "or by DNS", change: hosting(controlPlane{Exposure: &exposure{DNS: &gardencorev1beta1.DNSExposure{}}})},
		"exposure both ways": {reason: "not by both", change: hosting(controlPlane{Exposure: &exposure{DNS: &gardencorev1beta1.DNSExposure{}, Extension: &gardencorev1beta1.ExtensionExposure{Type: new("a")}}}), want: []string{at + ".exposure: FieldValueInvalid"}},
		"exposure unnamed":   {reason: "the extension has a type", change: hosting(controlPlane{Exposure: &exposure{Extension: &gardencorev1beta1.ExtensionExposure{}}}), want: []string{at + ".exposure.extension.type: FieldValueInvalid"}},
	})
}
