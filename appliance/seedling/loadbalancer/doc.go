// SPDX-License-Identifier: Apache-2.0

// Package loadbalancer gives each Service of type LoadBalancer an address of its own on this machine, and
// takes it back with the Service. The Services themselves are the only memory, so no address is given
// twice, also not after a restart. Forwarding to pods is the work of kube-proxy.
package loadbalancer
