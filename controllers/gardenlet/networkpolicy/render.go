// SPDX-License-Identifier: Apache-2.0

package networkpolicy

import (
	"cmp"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/reach"
)

// Names of policies. Each but the first opens the way of a label.
const (
	denyAll          = "deny-all"
	toDNS            = "allow-to-dns"
	toRuntime        = "allow-to-runtime-apiserver"
	toBlocked        = "allow-to-blocked-cidrs"
	toPublic         = "allow-to-public-networks"
	toPrivate        = "allow-to-private-networks"
	toShoot          = "allow-to-shoot-networks"
	dnsService       = "kube-dns"
	apiServerService = "kubernetes"
	// nodeLocalDNS is the address of the DNS cache of nodes, by convention.
	nodeLocalDNS = facts.NodeDNSAddress + "/32"
	// dnsPort is the port of DNS, and dnsPodPort that of servers in pods without rights of root.
	dnsPort, dnsPodPort = 53, 8053
)

// Facts are what the policies of a namespace depend on.
type Facts struct {
	Namespace string
	// OfShoot is set for the namespace of a shoot.
	OfShoot  bool
	Networks Networks
	// APIServer and DNS are the endpoints of the API server and of the DNS server of the seed. Endpoints that are pods are left to selectors.
	APIServer, DNS []discoveryv1.EndpointSlice
}

// Render returns the policies of a namespace. The one that denies comes last, so that those who may pass are not stopped in between.
func Render(f Facts) []*networkingv1.NetworkPolicy {
	out := func(name, key string, rules ...networkingv1.NetworkPolicyEgressRule) *networkingv1.NetworkPolicy {
		return policy(f.Namespace, name, networkingv1.NetworkPolicySpec{
			PodSelector: metav1.LabelSelector{MatchLabels: reach.Allowed(key)},
			PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeEgress}, Egress: rules,
		})
	}
	made := []*networkingv1.NetworkPolicy{
		out(toDNS, gardencorev1beta1.LabelNetworkPolicyToDNS, append([]networkingv1.NetworkPolicyEgressRule{dnsRule()}, endpointRules(f.DNS)...)...),
		out(toRuntime, gardencorev1beta1.LabelNetworkPolicyToRuntimeAPIServer, endpointRules(f.APIServer)...),
		out(toBlocked, gardencorev1beta1.LabelNetworkPolicyToBlockedCIDRs, rulesTo(peers(f.Networks.Blocked, nil))...),
		out(toPublic, gardencorev1beta1.LabelNetworkPolicyToPublicNetworks, rulesTo(f.Networks.Public())...),
		out(toPrivate, gardencorev1beta1.LabelNetworkPolicyToPrivateNetworks, rulesTo(f.Networks.Private())...),
	}
	if f.OfShoot {
		made = append(made, out(toShoot, gardencorev1beta1.LabelNetworkPolicyToShootNetworks, rulesTo(f.Networks.OfShoot())...))
	}
	return append(made, policy(f.Namespace, denyAll, networkingv1.NetworkPolicySpec{
		PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress},
	}))
}

func policy(namespace, name string, spec networkingv1.NetworkPolicySpec) *networkingv1.NetworkPolicy {
	return &networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: ownLabels()}, Spec: spec}
}

// ownLabels tell the general policies from those of others.
func ownLabels() map[string]string {
	return map[string]string{gardencorev1beta1.LabelManagedBy: fieldOwner}
}

// own reports whether a policy is a general one.
func own(policy client.Object) bool {
	return policy.GetLabels()[gardencorev1beta1.LabelManagedBy] == fieldOwner
}

// rulesTo is the rule for peers. A rule without peers would allow all of them, so there is none then.
func rulesTo(to []networkingv1.NetworkPolicyPeer) []networkingv1.NetworkPolicyEgressRule {
	if len(to) == 0 {
		return nil
	}
	return []networkingv1.NetworkPolicyEgressRule{{To: to}}
}

// providerDNS are the DNS servers that hosting providers have for their machines, for pods that resolve names as their node does. They are
// among the networks that no general way leads to, because metadata services have the same addresses.
func providerDNS() []string {
	return []string{"169.254.169.253/32", "169.254.169.254/32", "168.63.129.16/32"}
}

// dnsRule opens the way to DNS servers that are pods, to the cache of the node, and to those of providers.
func dnsRule() networkingv1.NetworkPolicyEgressRule {
	rule := networkingv1.NetworkPolicyEgressRule{To: []networkingv1.NetworkPolicyPeer{
		{
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: metav1.NamespaceSystem}},
			PodSelector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{
				Key: "k8s-app", Operator: metav1.LabelSelectorOpIn, Values: []string{dnsService, "node-local-dns"},
			}}},
		},
		{IPBlock: &networkingv1.IPBlock{CIDR: nodeLocalDNS}},
	}}
	for _, resolver := range providerDNS() {
		rule.To = append(rule.To, networkingv1.NetworkPolicyPeer{IPBlock: &networkingv1.IPBlock{CIDR: resolver}})
	}
	for _, number := range []int32{dnsPort, dnsPodPort} {
		for _, protocol := range []corev1.Protocol{corev1.ProtocolUDP, corev1.ProtocolTCP} {
			rule.Ports = append(rule.Ports, networkingv1.NetworkPolicyPort{Protocol: new(protocol), Port: new(intstr.FromInt32(number))})
		}
	}
	return rule
}

// endpointRules open the way to endpoints that are no pods, one rule for each slice (GLET-NP-1). Packets have the addresses of endpoints
// when they are judged, and not that of the Service.
func endpointRules(slicesOf []discoveryv1.EndpointSlice) []networkingv1.NetworkPolicyEgressRule {
	sorted := slices.SortedFunc(slices.Values(slicesOf), func(a, b discoveryv1.EndpointSlice) int { return cmp.Compare(a.Name, b.Name) })
	var rules []networkingv1.NetworkPolicyEgressRule
	for i := range sorted {
		var to []networkingv1.NetworkPolicyPeer
		for _, address := range addresses(&sorted[i]) {
			to = append(to, networkingv1.NetworkPolicyPeer{IPBlock: &networkingv1.IPBlock{CIDR: netip.PrefixFrom(address, address.BitLen()).String()}})
		}
		var through []networkingv1.NetworkPolicyPort
		for _, port := range sorted[i].Ports {
			if port.Port != nil {
				through = append(through, networkingv1.NetworkPolicyPort{
					Protocol: new(ptr.Deref(port.Protocol, corev1.ProtocolTCP)), Port: new(intstr.FromInt32(*port.Port)),
				})
			}
		}
		// A rule that lacks the one or the other would allow all of it.
		if len(to) > 0 && len(through) > 0 {
			rules = append(rules, networkingv1.NetworkPolicyEgressRule{To: to, Ports: through})
		}
	}
	return rules
}

func addresses(slice *discoveryv1.EndpointSlice) []netip.Addr {
	var found []netip.Addr
	for _, endpoint := range slice.Endpoints {
		if endpoint.TargetRef != nil && endpoint.TargetRef.Kind == "Pod" {
			continue
		}
		for _, text := range endpoint.Addresses {
			if address, err := netip.ParseAddr(text); err == nil {
				found = append(found, address)
			}
		}
	}
	slices.SortFunc(found, netip.Addr.Compare)
	return slices.Compact(found)
}
