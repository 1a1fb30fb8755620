// SPDX-License-Identifier: Apache-2.0

// Package networkagent is the node's part of the pod network of local shoots. On every node it keeps three things as the Nodes of
// the shoot say: the CNI configuration for the node's share of the pod network, a route to the share of every other node, and a rule
// that masquerades what leaves the pod network. It owns the routes of its own protocol number and one nftables table, and
// touches no others.
package networkagent
