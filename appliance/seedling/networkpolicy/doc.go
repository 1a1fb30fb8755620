// SPDX-License-Identifier: Apache-2.0

// Package networkpolicy enforces NetworkPolicies on this machine with a firewall table of its own.
//
// A pod that a policy selects has only the connections that some policy allows. A packet is checked twice: on its way out
// of the pod that sends it, and on its way into the pod that receives it, both after the address of a Service was replaced
// by that of a pod. Refused connections get an answer that says so, so that clients need not wait for a timeout.
//
// The DNS server of the cluster is a process of the node. So no selector of a policy finds it; policies allow it by its address and port,
// which are those of the endpoint of its Service.
//
// As the definition of NetworkPolicies allows, the following is not enforced: packets from the node to its pods, pods with
// the network of the node, packets of a pod to itself, and connections that were open when a policy began to refuse them.
// A pod that has just started is not restricted until its address is known, which takes some milliseconds. Addresses are
// those of IPv4; pods of a seedling have no others, and the node lets no other packets pass between them (see node.ForbidIPv6).
package networkpolicy
