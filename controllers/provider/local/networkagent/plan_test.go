// SPDX-License-Identifier: Apache-2.0

package networkagent_test

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/terrarium-garden/terrarium/controllers/provider/local/networkagent"
	"github.com/terrarium-garden/terrarium/tests/golden"
)

func node(name, podCIDR string, addresses ...string) *corev1.Node {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.NodeSpec{PodCIDR: podCIDR}}
	n.Status.Addresses = append(n.Status.Addresses, corev1.NodeAddress{Type: corev1.NodeHostName, Address: name})
	for _, a := range addresses {
		n.Status.Addresses = append(n.Status.Addresses, corev1.NodeAddress{Type: corev1.NodeInternalIP, Address: a})
	}
	return n
}

// young is a node that has joined after the others.
func young(n *corev1.Node) *corev1.Node {
	n.CreationTimestamp = metav1.Unix(1, 0)
	return n
}

func route(destination, gateway string) networkagent.Route {
	return networkagent.Route{Destination: netip.MustParsePrefix(destination), Gateway: netip.MustParseAddr(gateway)}
}

func TestMakePlan(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		nodes  []*corev1.Node
		want   networkagent.Plan
	}{
		"Alone": {
			reason: "a single node has its share and needs no routes",
			nodes:  []*corev1.Node{node("me", "10.100.0.0/24", "10.98.0.2")},
			want:   networkagent.Plan{Share: netip.MustParsePrefix("10.100.0.0/24")},
		},
		"Others": {
			reason: "every other node is reached by its internal address, in a stable order",
			nodes: []*corev1.Node{
				node("c", "10.100.2.0/24", "10.98.0.4"), node("me", "10.100.0.0/24", "10.98.0.2"), node("b", "10.100.1.0/24", "10.98.0.3"),
			},
			want: networkagent.Plan{
				Share:  netip.MustParsePrefix("10.100.0.0/24"),
				Routes: []networkagent.Route{route("10.100.1.0/24", "10.98.0.3"), route("10.100.2.0/24", "10.98.0.4")},
			},
		},
		"NotYet": {
			reason: "nodes without a share or an address are waited for; IPv6 is not served",
			nodes: []*corev1.Node{
				node("me", "", "10.98.0.2"), node("no-address", "10.100.1.0/24"), node("no-share", "", "10.98.0.4"),
				node("six", "fd00::/64", "10.98.0.5"), node("six-address", "10.100.3.0/24", "fd00::1"),
			},
			want: networkagent.Plan{},
		},
		"SecondAddress": {
			reason: "the first internal address that is IPv4 counts",
			nodes:  []*corev1.Node{node("b", "10.100.1.0/24", "fd00::1", "10.98.0.3", "10.98.0.9")},
			want:   networkagent.Plan{Routes: []networkagent.Route{route("10.100.1.0/24", "10.98.0.3")}},
		},
		"Masked": {
			reason: "host bits of a share do not end in a route",
			nodes:  []*corev1.Node{node("b", "10.100.1.7/24", "10.98.0.3")},
			want:   networkagent.Plan{Routes: []networkagent.Route{route("10.100.1.0/24", "10.98.0.3")}},
		},
		"Elsewhere": {
			reason: "a node that joins with another network than pods have would get the traffic of everybody",
			nodes: []*corev1.Node{
				node("all", "0.0.0.0/0", "10.98.0.6"), node("server", "10.96.0.1/32", "10.98.0.6"), node("whole", "10.100.0.0/15", "10.98.0.6"),
				node("me", "10.100.0.0/24", "10.98.0.2"), node("b", "10.100.1.0/24", "10.98.0.3"),
			},
			want: networkagent.Plan{Share: netip.MustParsePrefix("10.100.0.0/24"), Routes: []networkagent.Route{route("10.100.1.0/24", "10.98.0.3")}},
		},
		"Claimed": {
			reason: "a node does not get the traffic of this one or of an older one by joining with a part of its share",
			nodes: []*corev1.Node{
				young(node("a", "10.100.0.128/25", "10.98.0.6")), young(node("b", "10.100.1.7/32", "10.98.0.6")), young(node("c", "10.100.1.0/24", "10.98.0.6")),
				node("old", "10.100.1.0/24", "10.98.0.3"), young(node("me", "10.100.0.0/24", "10.98.0.2")),
			},
			want: networkagent.Plan{Share: netip.MustParsePrefix("10.100.0.0/24"), Routes: []networkagent.Route{route("10.100.1.0/24", "10.98.0.3")}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := networkagent.MakePlan("me", netip.MustParsePrefix("10.100.0.0/16"), tc.nodes)
			if diff := cmp.Diff(tc.want, got, cmpopts.EquateComparable(netip.Prefix{}, netip.Addr{}), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s\nMakePlan(...) (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestCNIConfig(t *testing.T) {
	t.Parallel()
	got, err := networkagent.CNIConfig(netip.MustParsePrefix("10.100.0.0/24"))
	if err != nil {
		t.Fatal(err)
	}
	golden.Text(t, "10-local.conflist", string(got))
}

func TestMasquerade(t *testing.T) {
	t.Parallel()
	golden.Text(t, "masquerade.nft", networkagent.Masquerade(netip.MustParsePrefix("10.100.0.0/16")))
}
