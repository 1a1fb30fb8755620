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
	const mask = "spec.kubernetes.kubeControllerManager.nodeCIDRMaskSize"
	v4 := []gardencorev1beta1.IPFamily{"IPv4"}
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
		"API-VALSHOOT-10 mask of IPv4": {reason: "a family that is named has its own shares", change: func(s *gardencorev1beta1.Shoot) { masked(24, nil)(s); s.Spec.Networking.IPFamilies = v4 }},
		"API-VALSHOOT-10 default pods": {reason: "settings may say nothing of pods", change: func(s *gardencorev1beta1.Shoot) {
			masked(25, &gardencorev1beta1.KubeletConfig{})(s)
			s.Spec.Kubernetes.Kubelet = &gardencorev1beta1.KubeletConfig{}
		}},
		"API-VALSHOOT-10 large share": {
			reason: "a share is not too large", change: masked(15, nil), want: []string{mask + ": FieldValueInvalid"},
		},
		"API-VALSHOOT-10 small share": {
			reason: "nor too small, be the pods as few as they like", change: masked(29, &gardencorev1beta1.KubeletConfig{MaxPods: new(int32(1))}), want: []string{mask + ": FieldValueInvalid"},
		},
		"API-VALSHOOT-10 pods of all": {
			reason: "pools take the number of pods of the shoot",
			change: func(s *gardencorev1beta1.Shoot) {
				masked(25, nil)(s)
				s.Spec.Kubernetes.Kubelet = &gardencorev1beta1.KubeletConfig{MaxPods: new(int32(250))}
			},
			want: []string{mask + ": FieldValueInvalid"},
		},
		"API-VALSHOOT-10 both families": {
			reason: "a shoot of both families has a share of each",
			change: func(s *gardencorev1beta1.Shoot) {
				masked(24, nil)(s)
				s.Spec.Networking.IPFamilies = []gardencorev1beta1.IPFamily{"IPv4", "IPv6"}
				s.Spec.Kubernetes.KubeControllerManager.NodeCIDRMaskSizeIPv6 = new(int32(64))
			},
		},
		"API-VALSHOOT-10 unreadable": {
			reason: "what is no range has no family",
			change: func(s *gardencorev1beta1.Shoot) {
				s.Spec.Networking = &gardencorev1beta1.Networking{Type: new("local"), IPFamilies: []gardencorev1beta1.IPFamily{"IPv6"}, Pods: new("nonsense")}
			},
			want: []string{"spec.networking.pods: FieldValueInvalid"},
		},
		"API-VALSHOOT-1 network": {
			reason: "machines have a network", change: func(s *gardencorev1beta1.Shoot) { s.Spec.Networking = nil }, want: []string{"spec.networking: FieldValueRequired"},
		},
		"API-VALSHOOT-7 services": {
			reason: "a shoot without machines may have Services",
			change: func(s *gardencorev1beta1.Shoot) {
				s.Spec.Provider.Workers, s.Spec.CredentialsBindingName = nil, nil
				s.Spec.Networking = &gardencorev1beta1.Networking{Services: new("10.101.0.0/16")}
			},
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

func TestValidateNetworksUpdate(t *testing.T) {
	t.Parallel()
	nodes := func(cidr string) shootChange {
		return networked(func(n *gardencorev1beta1.Networking) { n.Nodes = &cidr })
	}
	of := func(all ...gardencorev1beta1.IPFamily) shootChange {
		return networked(func(n *gardencorev1beta1.Networking) { n.Pods, n.Services, n.IPFamilies = nil, nil, all })
	}
	shares := func(v6 *int32, all ...gardencorev1beta1.IPFamily) shootChange {
		return func(s *gardencorev1beta1.Shoot) {
			of(all...)(s)
			s.Spec.Kubernetes.KubeControllerManager = &gardencorev1beta1.KubeControllerManagerConfig{NodeCIDRMaskSizeIPv6: v6}
		}
	}
	bare := func(n *gardencorev1beta1.Networking) shootChange {
		return func(s *gardencorev1beta1.Shoot) {
			s.Spec.Provider.Workers, s.Spec.CredentialsBindingName, s.Spec.Networking = nil, nil, n
		}
	}
	const forbidden, moved = "spec.networking.ipFamilies: FieldValueForbidden", "spec.networking.nodes: FieldValueInvalid"
	checkShootUpdates(t, map[string]shootUpdate{
		"API-VALSHOOT-2 first nodes":  {reason: "a range of machines can be given", old: changes{onSeed}, now: changes{onSeed, nodes("10.4.0.0/16")}},
		"API-VALSHOOT-2 same nodes":   {reason: "and kept", old: changes{onSeed, nodes("10.4.0.0/16")}, now: changes{onSeed, nodes("10.4.0.0/16")}},
		"API-VALSHOOT-2 more nodes":   {reason: "and extended", old: changes{onSeed, nodes("10.4.0.0/16")}, now: changes{onSeed, nodes("10.4.0.0/15")}},
		"API-VALSHOOT-2 other nodes":  {reason: "but not moved", old: changes{onSeed, nodes("10.4.0.0/16")}, now: changes{onSeed, nodes("10.6.0.0/15")}, want: []string{moved}},
		"API-VALSHOOT-2 no nodes":     {reason: "nor removed", old: changes{onSeed, nodes("10.4.0.0/16")}, now: changes{onSeed}, want: []string{moved}},
		"API-VALSHOOT-2 broken nodes": {reason: "nor replaced by what is no range", old: changes{onSeed, nodes("10.4.0.0/16")}, now: changes{onSeed, nodes("x")}, want: []string{moved, moved}},
		"API-VALSHOOT-2 single stack": {reason: "the second family can go", old: changes{of("IPv4", "IPv6")}, now: changes{of("IPv4")}},
		"API-VALSHOOT-2 from IPv6":    {reason: "but none can come to IPv6", old: changes{of("IPv6")}, now: changes{of("IPv4", "IPv6")}, want: []string{forbidden}},
		"API-VALSHOOT-2 to IPv4":      {reason: "nor take its place", old: changes{of("IPv6")}, now: changes{of("IPv4")}, want: []string{forbidden}},
		"API-VALSHOOT-2 to IPv6":      {reason: "nor can the first one go", old: changes{of("IPv4", "IPv6")}, now: changes{of("IPv6")}, want: []string{forbidden}},
		"API-VALSHOOT-2 IPv6 share":   {reason: "the share of IPv6 stays", old: changes{shares(new(int32(64)), "IPv4", "IPv6")}, now: changes{shares(new(int32(65)), "IPv4", "IPv6")}, want: []string{"spec.kubernetes.kubeControllerManager.nodeCIDRMaskSizeIPv6: FieldValueInvalid"}},
		"API-VALSHOOT-2 IPv6 gone":    {reason: "and goes with its family", old: changes{shares(new(int32(64)), "IPv4", "IPv6")}, now: changes{shares(nil, "IPv4")}},
		"API-VALSHOOT-2 first":        {reason: "a shoot without machines can get Services", old: changes{bare(nil)}, now: changes{bare(&gardencorev1beta1.Networking{Services: new("10.101.0.0/16")})}},
		"API-VALSHOOT-2 last":         {reason: "but not lose them", old: changes{bare(&gardencorev1beta1.Networking{})}, now: changes{bare(nil)}, want: []string{"spec.networking: FieldValueForbidden"}},
	})
}
