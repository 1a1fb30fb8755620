// SPDX-License-Identifier: Apache-2.0

package v1beta1

// ExternalTrafficPolicy says what a node does with traffic for a load balancer. It stands for the type of Services,
// whose values would be missing in the schema.
//
// +enum
type ExternalTrafficPolicy string

const (
	// ExternalTrafficPolicyCluster hands traffic on to any node.
	ExternalTrafficPolicyCluster ExternalTrafficPolicy = "Cluster"
	// ExternalTrafficPolicyLocal keeps traffic on the node and its source address with it.
	ExternalTrafficPolicyLocal ExternalTrafficPolicy = "Local"
)
