// SPDX-License-Identifier: Apache-2.0

package networkpolicy

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// matches returns expressions of the firewall, one of which is true for each packet that a policy allows.
func matches(d direction, policy *networkingv1.NetworkPolicy, all []pod) ([]string, error) {
	own, err := selected(networkingv1.NetworkPolicyPeer{PodSelector: &policy.Spec.PodSelector}, policy, all)
	if err != nil {
		return nil, err
	}
	var found []string
	for _, r := range d.rules(&policy.Spec) {
		peers, err := peersOf(d, policy, r.peers, all)
		if err != nil {
			return nil, err
		}
		for _, peer := range peers {
			found = append(found, peer.through(d, r.ports, own)...)
		}
	}
	return found, nil
}

// peer are addresses: all, those that expressions select, or those of pods.
type peer struct {
	expressions []string
	pods        []pod
	ofPods      bool
}

func peersOf(d direction, policy *networkingv1.NetworkPolicy, given []networkingv1.NetworkPolicyPeer, all []pod) ([]peer, error) {
	if len(given) == 0 {
		return []peer{{}}, nil
	}
	var found []peer
	for _, p := range given {
		if p.IPBlock != nil {
			if strings.Contains(p.IPBlock.CIDR, ":") {
				continue // No pod has an address of IPv6.
			}
			block := []string{fmt.Sprintf("ip %s %s", d.peer, p.IPBlock.CIDR)}
			for _, except := range p.IPBlock.Except {
				block = append(block, fmt.Sprintf("ip %s != %s", d.peer, except))
			}
			found = append(found, peer{expressions: block})
			continue
		}
		pods, err := selected(p, policy, all)
		if err != nil {
			return nil, err
		}
		found = append(found, peer{pods: pods, ofPods: true})
	}
	return found, nil
}

// through returns the expressions for packets between the own pods and the peer through ports.
func (p peer) through(d direction, ports []networkingv1.NetworkPolicyPort, own []pod) []string {
	if len(ports) == 0 {
		return p.with(d)
	}
	var found []string
	for _, port := range ports {
		protocol := corev1.ProtocolTCP
		if port.Protocol != nil {
			protocol = *port.Protocol
		}
		transport := strings.ToLower(string(protocol))
		switch {
		case port.Port == nil:
			found = append(found, p.with(d, "meta l4proto "+transport)...)
		case port.Port.Type == intstr.Int && port.EndPort != nil:
			found = append(found, p.with(d, fmt.Sprintf("%s dport %d-%d", transport, port.Port.IntVal, *port.EndPort))...)
		case port.Port.Type == intstr.Int:
			found = append(found, p.with(d, fmt.Sprintf("%s dport %d", transport, port.Port.IntVal))...)
		default:
			found = append(found, p.throughNamed(d, port.Port.StrVal, protocol, own)...)
		}
	}
	return found
}

// throughNamed looks the port up in the pods that are its servers: the own ones for ingress, the peers for egress.
func (p peer) throughNamed(d direction, name string, protocol corev1.Protocol, own []pod) []string {
	if d.kind == networkingv1.PolicyTypeEgress && !p.ofPods {
		return nil // Addresses outside of the cluster have no names for ports.
	}
	servers := own
	if d.kind == networkingv1.PolicyTypeEgress {
		servers = p.pods
	}
	byNumber := map[int32][]pod{}
	for _, s := range servers {
		if number := s.port(name, protocol); number != 0 {
			byNumber[number] = append(byNumber[number], s)
		}
	}
	var found []string
	for _, number := range slices.Sorted(maps.Keys(byNumber)) {
		through := fmt.Sprintf("%s dport %d", strings.ToLower(string(protocol)), number)
		if d.kind == networkingv1.PolicyTypeEgress {
			found = append(found, peer{pods: byNumber[number], ofPods: true}.with(d, through)...)
			continue
		}
		found = append(found, p.with(d, fmt.Sprintf("ip %s %s", d.self, addresses(byNumber[number])), through)...)
	}
	return found
}

// with returns the expression for packets of the peer that others match too; none if the peer is no pod at all.
func (p peer) with(d direction, others ...string) []string {
	if p.ofPods && len(p.pods) == 0 {
		return nil
	}
	all := slices.Clone(p.expressions)
	if p.ofPods {
		all = append(all, fmt.Sprintf("ip %s %s", d.peer, addresses(p.pods)))
	}
	return []string{cmp.Or(strings.Join(append(all, others...), " "), "ip version 4")}
}

// addresses is a set of the addresses of pods.
func addresses(of []pod) string {
	texts := make([]string, 0, len(of))
	for _, p := range of {
		texts = append(texts, p.address.String())
	}
	return "{ " + strings.Join(texts, ", ") + " }"
}
