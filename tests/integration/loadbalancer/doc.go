// SPDX-License-Identifier: Apache-2.0

// Package loadbalancer tests the load balancers of shoots with local machines with real API servers of Kubernetes, one for the seed and one
// for the shoot, and with the rights that the cloud controller has there. The test does what load balancers and nodes do.
package loadbalancer
