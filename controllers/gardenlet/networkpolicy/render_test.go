// SPDX-License-Identifier: Apache-2.0

package networkpolicy_test

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/controllers/gardenlet/networkpolicy"
	"github.com/terrarium-garden/terrarium/tests/golden"
)

func prefixes(texts ...string) []netip.Prefix {
	var all []netip.Prefix
	for _, text := range texts {
		all = append(all, netip.MustParsePrefix(text))
	}
	return all
}

// slice has the endpoints of a Service at a port.
func slice(namespace, service string, port int32, addresses ...string) *discoveryv1.EndpointSlice {
	return &discoveryv1.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: service, Labels: map[string]string{"kubernetes.io/service-name": service}},
		Endpoints:  []discoveryv1.Endpoint{{Addresses: addresses}}, Ports: []discoveryv1.EndpointPort{{Port: &port}},
	}
}

func TestRender(t *testing.T) {
	t.Parallel()
	dns := slice("kube-system", "kube-dns", 7253, "10.99.0.1")
	dns.Ports[0].Protocol = new(corev1.ProtocolUDP)
	dns.Endpoints = append(dns.Endpoints, discoveryv1.Endpoint{Addresses: []string{"10.98.0.7"}, TargetRef: &corev1.ObjectReference{Kind: "Pod", Name: "coredns"}})
	made := networkpolicy.Render(networkpolicy.Facts{
		Namespace: "shoot--dev--a", OfShoot: true,
		Networks: networkpolicy.Networks{
			Seed: prefixes("10.97.0.0/16", "10.98.0.0/16"), Blocked: prefixes("8.8.8.8/32", "192.168.7.0/24"), Shoot: prefixes("10.98.0.0/16", "100.64.0.0/13"),
		},
		APIServer: []discoveryv1.EndpointSlice{*slice("default", "kubernetes", 6443, "172.18.0.3", "172.18.0.2")}, DNS: []discoveryv1.EndpointSlice{*dns},
	})
	objects := make([]client.Object, 0, len(made))
	for _, policy := range made {
		objects = append(objects, policy)
	}
	golden.Objects(t, "policies.yaml", objects)
}

// TestNothingIsEverything_GLET_NP_2: a rule without peers or without ports would allow all of them, so what is not known opens nothing.
func TestNothingIsEverything_GLET_NP_2(t *testing.T) {
	t.Parallel()
	empty := []discoveryv1.EndpointSlice{{Ports: []discoveryv1.EndpointPort{{Port: new(int32(443))}}}, {Endpoints: []discoveryv1.Endpoint{{Addresses: []string{"10.0.0.1"}}}}}
	made := networkpolicy.Render(networkpolicy.Facts{Namespace: "shoot--dev--a", OfShoot: true, APIServer: empty, DNS: empty})
	if last := made[len(made)-1]; last.Name != "deny-all" || len(last.Spec.PolicyTypes) != 2 || len(last.Spec.Egress)+len(last.Spec.Ingress) != 0 {
		t.Errorf("the last policy is %+v", last)
	}
	for _, policy := range made {
		for _, rule := range policy.Spec.Egress {
			if len(rule.To) == 0 {
				t.Errorf("policy %q opens everything: %+v", policy.Name, rule)
			}
		}
		if policy.Name != "deny-all" && len(policy.Spec.PodSelector.MatchLabels) != 1 {
			t.Errorf("policy %q selects %+v", policy.Name, policy.Spec.PodSelector)
		}
	}
	if got := len(networkpolicy.Render(networkpolicy.Facts{Namespace: "garden"})); got != len(made)-1 {
		t.Errorf("a namespace without a shoot has %d policies, one with a shoot %d", got, len(made))
	}
}

func TestNetworks_GLET_NP_3(t *testing.T) {
	t.Parallel()
	block := func(cidr string, except ...string) networkingv1.NetworkPolicyPeer {
		return networkingv1.NetworkPolicyPeer{IPBlock: &networkingv1.IPBlock{CIDR: cidr, Except: except}}
	}
	n := networkpolicy.Networks{
		Seed: prefixes("10.97.0.0/16"), Blocked: prefixes("8.8.8.0/24", "192.168.0.0/16"), Shoot: prefixes("10.97.0.0/16", "10.100.0.0/16"),
	}
	for reason, tc := range map[string]struct {
		got, want []networkingv1.NetworkPolicyPeer
	}{
		"public is what is neither private, shared nor blocked": {n.Public(), []networkingv1.NetworkPolicyPeer{
			block(
				"0.0.0.0/0", "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "168.63.129.16/32", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
				"192.168.0.0/16", "224.0.0.0/4", "240.0.0.0/4", "8.8.8.0/24",
			),
		}},
		"private leaves out those of seed and shoot, and what is blocked": {n.Private(), []networkingv1.NetworkPolicyPeer{
			block("10.0.0.0/8", "10.100.0.0/16", "10.97.0.0/16"), block("172.16.0.0/12"), block("100.64.0.0/10", "100.100.100.200/32"),
		}},
		"those of the shoot leave out those of the seed": {n.OfShoot(), []networkingv1.NetworkPolicyPeer{block("10.100.0.0/16")}},
		"an exception is inside of its network, and wider ones hide it": {
			networkpolicy.Networks{Shoot: prefixes("10.1.0.0/16"), Blocked: prefixes("10.0.0.0/8")}.OfShoot(), nil,
		},
		"a shoot that has metadata services in its networks does not open them": {
			networkpolicy.Networks{Shoot: prefixes("169.254.169.0/24", "100.100.0.0/16")}.OfShoot(), []networkingv1.NetworkPolicyPeer{block("100.100.0.0/16", "100.100.100.200/32")},
		},
	} {
		if diff := cmp.Diff(tc.want, tc.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", reason, diff)
		}
	}
}
