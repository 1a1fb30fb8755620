// SPDX-License-Identifier: Apache-2.0

// Package loadbalancer gives each Service of type LoadBalancer its own address on this machine, and removes the
// address with the Service. Assignments are stored only in the Services, so no address is assigned twice, even after
// a restart. kube-proxy forwards to the pods.
package loadbalancer
