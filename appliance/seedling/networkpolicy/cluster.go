// SPDX-License-Identifier: Apache-2.0

package networkpolicy

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// Cluster is all that policies refer to.
type Cluster struct {
	Policies   []*networkingv1.NetworkPolicy
	Pods       []*corev1.Pod
	Namespaces []*corev1.Namespace
}

// pod is a pod with an address of its own.
type pod struct {
	*corev1.Pod

	address   netip.Addr
	namespace labels.Set
}

// pods returns the pods that policies apply to, by address. If two claim an address, the younger one has it: the other
// one is about to end, and its kubelet has not said so yet.
func (c Cluster) pods() []pod {
	namespaces := map[string]labels.Set{}
	for _, n := range c.Namespaces {
		namespaces[n.Name] = n.Labels
	}
	found := map[netip.Addr]pod{}
	for _, p := range c.Pods {
		ended := p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
		address, err := netip.ParseAddr(p.Status.PodIP)
		if ended || p.Spec.HostNetwork || err != nil || !address.Is4() {
			continue
		}
		other, taken := found[address]
		if !taken || other.CreationTimestamp.Before(&p.CreationTimestamp) {
			found[address] = pod{Pod: p, address: address, namespace: namespaces[p.Namespace]}
		}
	}
	sorted := make([]pod, 0, len(found))
	for _, p := range found {
		sorted = append(sorted, p)
	}
	slices.SortFunc(sorted, func(a, b pod) int { return a.address.Compare(b.address) })
	return sorted
}

// policies returns the policies of a direction in a fixed order.
func (c Cluster) policies(d direction) []*networkingv1.NetworkPolicy {
	var found []*networkingv1.NetworkPolicy
	for _, p := range c.Policies {
		if d.restrictedBy(&p.Spec) {
			found = append(found, p)
		}
	}
	slices.SortFunc(found, func(a, b *networkingv1.NetworkPolicy) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return found
}

// port returns the number of a named port of the pod, or 0.
func (p pod) port(name string, protocol corev1.Protocol) int32 {
	for _, container := range slices.Concat(p.Spec.InitContainers, p.Spec.Containers) {
		for _, port := range container.Ports {
			if port.Name == name && cmp.Or(port.Protocol, corev1.ProtocolTCP) == protocol {
				return port.ContainerPort
			}
		}
	}
	return 0
}

// selected returns the pods that a peer of a policy selects.
func selected(peer networkingv1.NetworkPolicyPeer, policy *networkingv1.NetworkPolicy, all []pod) ([]pod, error) {
	ofPod, err := selector(peer.PodSelector)
	if err != nil {
		return nil, err
	}
	ofNamespace, err := selector(peer.NamespaceSelector)
	if err != nil {
		return nil, err
	}
	var found []pod
	for _, p := range all {
		near := p.Namespace == policy.Namespace
		if peer.NamespaceSelector != nil {
			near = p.namespace != nil && ofNamespace.Matches(p.namespace)
		}
		if near && ofPod.Matches(labels.Set(p.Labels)) {
			found = append(found, p)
		}
	}
	return found, nil
}

// selector matches everything if it is not given.
func selector(given *metav1.LabelSelector) (labels.Selector, error) {
	if given == nil {
		return labels.Everything(), nil
	}
	s, err := metav1.LabelSelectorAsSelector(given)
	if err != nil {
		return nil, fmt.Errorf("read selector: %w", err)
	}
	return s, nil
}
