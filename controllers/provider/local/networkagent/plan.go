// SPDX-License-Identifier: Apache-2.0

package networkagent

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Route leads to the pods of another node.
type Route struct {
	// Destination is the other node's share of the pod network.
	Destination netip.Prefix
	// Gateway is the address of the other node.
	Gateway netip.Addr
}

// Plan is the desired network of one node.
type Plan struct {
	// Share is this node's part of the pod network; it is invalid while the node has none.
	Share netip.Prefix
	// Routes to the other nodes, ordered by destination.
	Routes []Route
}

// MakePlan returns the desired network of the node self, given the network of all pods and all nodes of the shoot. Nodes without a share of
// the pod network or without an internal address are ignored until they have both. A node may say itself which share it has when it joins. So
// what is outside of the pod network is none, and what another node has had for longer, or self has, is not led elsewhere.
func MakePlan(self string, podNetwork netip.Prefix, nodes []*corev1.Node) Plan {
	plan := Plan{}
	var taken []netip.Prefix
	for _, node := range inTurn(self, nodes) {
		share, found := shareOf(node, podNetwork)
		if !found || slices.ContainsFunc(taken, share.Overlaps) {
			continue
		}
		taken = append(taken, share)
		if node.Name == self {
			plan.Share = share
			continue
		}
		if gateway, found := internalAddress(node); found {
			plan.Routes = append(plan.Routes, Route{Destination: share, Gateway: gateway})
		}
	}
	slices.SortFunc(plan.Routes, func(a, b Route) int {
		return cmp.Or(a.Destination.Compare(b.Destination), a.Gateway.Compare(b.Gateway))
	})
	return plan
}

// inTurn are the nodes in the order in which they have their shares: self first, the others by their age.
func inTurn(self string, nodes []*corev1.Node) []*corev1.Node {
	return slices.SortedFunc(slices.Values(nodes), func(a, b *corev1.Node) int {
		switch {
		case a.Name == self:
			return -1
		case b.Name == self:
			return 1
		default:
			return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
		}
	})
}

// shareOf is the part of the pod network that a node has, if it is one.
func shareOf(node *corev1.Node, podNetwork netip.Prefix) (netip.Prefix, bool) {
	share, err := netip.ParsePrefix(node.Spec.PodCIDR)
	if err != nil || !share.Addr().Is4() || share.Bits() < podNetwork.Bits() || !podNetwork.Contains(share.Addr()) {
		return netip.Prefix{}, false
	}
	return share.Masked(), true
}

func internalAddress(node *corev1.Node) (netip.Addr, bool) {
	for _, address := range node.Status.Addresses {
		if address.Type != corev1.NodeInternalIP {
			continue
		}
		if parsed, err := netip.ParseAddr(address.Address); err == nil && parsed.Is4() {
			return parsed, true
		}
	}
	return netip.Addr{}, false
}

// CNIConfig renders the CNI configuration list of a node with the given share of the pod network.
func CNIConfig(share netip.Prefix) ([]byte, error) {
	type object = map[string]any
	list := object{
		"cniVersion": "1.0.0",
		"name":       "local",
		"plugins": []object{
			{
				"type":        "bridge",
				"bridge":      "cni0",
				"isGateway":   true,
				"hairpinMode": true,
				"ipam": object{
					"type":   "host-local",
					"ranges": [][]object{{{"subnet": share.String()}}},
					"routes": []object{{"dst": "0.0.0.0/0"}},
				},
			},
			{"type": "portmap", "snat": true, "capabilities": object{"portMappings": true}},
		},
	}
	data, err := json.MarshalIndent(list, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode CNI configuration for %q: %w", share, err)
	}
	return append(data, '\n'), nil
}

// Masquerade renders the nftables commands that replace the table of the agent: traffic that leaves the pod network gets the address of
// the node as its source.
func Masquerade(podNetwork netip.Prefix) string {
	return fmt.Sprintf(`add table ip local-network
delete table ip local-network
table ip local-network {
	chain postrouting {
		type nat hook postrouting priority srcnat; policy accept;
		ip saddr %[1]s ip daddr != %[1]s masquerade
	}
}
`, podNetwork)
}
