// SPDX-License-Identifier: Apache-2.0

package v1beta1

// ExternalTrafficPolicy says what a node does with traffic for a load balancer. It replaces the type of Services, whose
// values would be missing in the schema.
//
// +enum
type ExternalTrafficPolicy string

const (
	// ExternalTrafficPolicyCluster forwards traffic to any node.
	ExternalTrafficPolicyCluster ExternalTrafficPolicy = "Cluster"
	// ExternalTrafficPolicyLocal keeps traffic on the node and preserves its source address.
	ExternalTrafficPolicyLocal ExternalTrafficPolicy = "Local"
)
