// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"testing"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// masked gives each node a share of the network, and the first pool settings of its kubelets.
func masked(size int32, k *gardencorev1beta1.KubeletConfig) shootChange {
	return func(s *gardencorev1beta1.Shoot) {
		s.Spec.Kubernetes.KubeControllerManager = &gardencorev1beta1.KubeControllerManagerConfig{NodeCIDRMaskSize: &size}
		s.Spec.Provider.Workers[0].Kubernetes = &gardencorev1beta1.WorkerKubernetes{Kubelet: k}
	}
}

func TestValidateShootNetworks(t *testing.T) {
	t.Parallel()
	checkShoots(t, map[string]shootCase{
		"API-VALSHOOT-10 family": {
			reason: "ranges are of the families of the shoot",
			change: func(s *gardencorev1beta1.Shoot) { s.Spec.Networking.Nodes = new("fd00:1::/64") },
			want:   []string{"spec.networking.nodes: FieldValueInvalid"},
		},
		"API-VALSHOOT-10 families": {
			reason: "families are known ones, each once",
			change: func(s *gardencorev1beta1.Shoot) {
				s.Spec.Networking.IPFamilies = []gardencorev1beta1.IPFamily{"IPv4", "IPv4", "IPv5"}
			},
			want: []string{"spec.networking.ipFamilies[1]: FieldValueDuplicate", "spec.networking.ipFamilies[2]: FieldValueNotSupported"},
		},
		"API-VALSHOOT-10 mask": {
			reason: "a share is neither too small nor too large",
			change: func(s *gardencorev1beta1.Shoot) {
				s.Spec.Kubernetes.KubeControllerManager = &gardencorev1beta1.KubeControllerManagerConfig{
					NodeCIDRMaskSize: new(int32(29)), NodeCIDRMaskSizeIPv6: new(int32(125)),
				}
			},
			want: []string{
				"spec.kubernetes.kubeControllerManager.nodeCIDRMaskSize: FieldValueInvalid",
				"spec.kubernetes.kubeControllerManager.nodeCIDRMaskSizeIPv6: FieldValueForbidden",
				"spec.kubernetes.kubeControllerManager.nodeCIDRMaskSizeIPv6: FieldValueInvalid",
			},
		},
		"API-VALSHOOT-10 IPv6": {
			reason: "a shoot of the other family has other shares",
			change: func(s *gardencorev1beta1.Shoot) {
				s.Spec.Networking = &gardencorev1beta1.Networking{Type: new("local"), IPFamilies: []gardencorev1beta1.IPFamily{"IPv6"}}
				s.Spec.Kubernetes.KubeControllerManager = &gardencorev1beta1.KubeControllerManagerConfig{NodeCIDRMaskSize: new(int32(64))}
			},
		},
		"API-VALSHOOT-10 pods": {
			reason: "all pods of a node find room",
			change: masked(25, &gardencorev1beta1.KubeletConfig{MaxPods: new(int32(250))}),
			want:   []string{"spec.kubernetes.kubeControllerManager.nodeCIDRMaskSize: FieldValueInvalid"},
		},
		"API-VALSHOOT-10 few pods": {
			reason: "fewer pods need less room",
			change: masked(26, &gardencorev1beta1.KubeletConfig{MaxPods: new(int32(30))}),
		},
		"API-VALSHOOT-10 many pods": {
			reason: "a pool that says nothing has 110 pods on a node, whatever others have",
			change: func(s *gardencorev1beta1.Shoot) {
				masked(26, &gardencorev1beta1.KubeletConfig{MaxPods: new(int32(30))})(s)
				more := s.Spec.Provider.Workers[0].DeepCopy()
				more.Name, more.Kubernetes = "more", nil
				s.Spec.Provider.Workers = append(s.Spec.Provider.Workers, *more)
			},
			want: []string{"spec.kubernetes.kubeControllerManager.nodeCIDRMaskSize: FieldValueInvalid"},
		},
		"API-VALSHOOT-11": {
			reason: "what the tunnels use is taken",
			change: func(s *gardencorev1beta1.Shoot) {
				s.Spec.Networking.IPFamilies = []gardencorev1beta1.IPFamily{"IPv4", "IPv6"}
				s.Spec.Networking.Nodes, s.Spec.Networking.Pods = new("242.0.0.0/16"), new("fd8f:6d53:b97a:1::/80")
			},
			want: []string{"spec.networking.nodes: FieldValueInvalid", "spec.networking.pods: FieldValueInvalid"},
		},
	})
}
