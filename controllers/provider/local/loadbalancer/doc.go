// SPDX-License-Identifier: Apache-2.0

// Package loadbalancer makes the load balancers of a local shoot. For each Service of type LoadBalancer in the shoot there is one in the
// namespace of its machines, in the seed or in another cluster: it leads from an address of that cluster to the node ports of the machines,
// and the address gets into the status of the shoot's Service.
//
// Services belong to users of the shoot, who may be hostile, and the cluster of the machines to others as well. So only what a load
// balancer needs is taken over: ports, networks of clients, and how traffic is spread. Annotations and wanted addresses are not. What there is
// of a shoot is limited.
package loadbalancer
