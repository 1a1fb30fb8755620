// SPDX-License-Identifier: Apache-2.0

package networkpolicy

import (
	"slices"

	networkingv1 "k8s.io/api/networking/v1"
)

// direction is the way of packets from the view of a pod that policies select.
type direction struct {
	// kind is the type of policies, and name the first part of the names of chains.
	kind networkingv1.PolicyType
	name string
	// self and peer are the fields of a packet with the address of the pod and that of its peer.
	self, peer string
}

func egress() direction {
	return direction{kind: networkingv1.PolicyTypeEgress, name: "egress", self: "saddr", peer: "daddr"}
}

func ingress() direction {
	return direction{kind: networkingv1.PolicyTypeIngress, name: "ingress", self: "daddr", peer: "saddr"}
}

// restrictedBy reports whether a policy restricts packets of the direction.
func (d direction) restrictedBy(spec *networkingv1.NetworkPolicySpec) bool {
	if len(spec.PolicyTypes) > 0 {
		return slices.Contains(spec.PolicyTypes, d.kind)
	}
	return d.kind == networkingv1.PolicyTypeIngress || len(spec.Egress) > 0
}

// rule is what a policy allows. Without peers it allows all peers, and without ports all ports.
type rule struct {
	peers []networkingv1.NetworkPolicyPeer
	ports []networkingv1.NetworkPolicyPort
}

func (d direction) rules(spec *networkingv1.NetworkPolicySpec) []rule {
	var found []rule
	if d.kind == networkingv1.PolicyTypeEgress {
		for _, r := range spec.Egress {
			found = append(found, rule{r.To, r.Ports})
		}
		return found
	}
	for _, r := range spec.Ingress {
		found = append(found, rule{r.From, r.Ports})
	}
	return found
}
