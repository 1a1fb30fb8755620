// SPDX-License-Identifier: Apache-2.0

// Package addons runs the loops that a cloud provider would run for a cluster: addresses for load balancers, volumes
// for claims, and a firewall for network policies.
package addons
