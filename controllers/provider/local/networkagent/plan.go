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

// MakePlan returns the desired network of the node self, given all nodes of the shoot. Nodes without a share of the pod network or without
// an internal address are ignored until they have both.
func MakePlan(self string, nodes []*corev1.Node) Plan {
	plan := Plan{}
	for _, node := range nodes {
		share, err := netip.ParsePrefix(node.Spec.PodCIDR)
		if err != nil || !share.Addr().Is4() {
			continue
		}
		if node.Name == self {
			plan.Share = share.Masked()
			continue
		}
		if gateway, found := internalAddress(node); found {
			plan.Routes = append(plan.Routes, Route{Destination: share.Masked(), Gateway: gateway})
		}
	}
	slices.SortFunc(plan.Routes, func(a, b Route) int {
		return cmp.Or(a.Destination.Compare(b.Destination), a.Gateway.Compare(b.Gateway))
	})
	return plan
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
