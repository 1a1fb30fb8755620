// SPDX-License-Identifier: Apache-2.0

// Package networkagent configures the pod network of local shoots on each node. From the Nodes of the shoot it derives the CNI
// configuration for the node's share of the pod network, a route to the share of every other node, and a rule that masquerades
// traffic that leaves the pod network. It owns the routes with its own protocol number and one nftables table, and changes no
// others.
package networkagent
