// SPDX-License-Identifier: Apache-2.0

// Package networkpolicy keeps the general network policies of a seed. In namespaces of shoots, of extensions and in garden, all traffic
// of pods is denied, and labels of a pod open single ways: to DNS, to the API server of the seed, to public, private and blocked
// networks, and to those of the shoot. The ways between components are opened by the resource manager.
package networkpolicy
