// SPDX-License-Identifier: Apache-2.0

package node

import (
	"encoding/json"
	"fmt"
	"net/netip"
)

// PodNetwork describes the network of the pods of one node.
type PodNetwork struct {
	Name    string
	Bridge  string
	Range   netip.Prefix
	MTU     int
	DataDir string
}

// Configuration returns the network plugins as a CNI conflist: a bridge on which each pod and the node have an address,
// and host ports by address translation.
func (n PodNetwork) Configuration() ([]byte, error) {
	type object = map[string]any
	content, err := json.MarshalIndent(object{
		"cniVersion": "1.0.0",
		"name":       n.Name,
		"plugins": []object{
			{
				"type":        "bridge",
				"bridge":      n.Bridge,
				"isGateway":   true,
				"hairpinMode": true,
				"mtu":         n.MTU,
				"ipam": object{
					"type":    "host-local",
					"dataDir": n.DataDir,
					"ranges":  [][]object{{{"subnet": n.Range.String()}}},
					"routes":  []object{{"dst": "0.0.0.0/0"}},
				},
			},
			{"type": "portmap", "backend": "nftables", "capabilities": object{"portMappings": true}},
		},
	}, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode configuration of the pod network: %w", err)
	}
	return append(content, '\n'), nil
}
