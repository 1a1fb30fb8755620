// SPDX-License-Identifier: Apache-2.0

package loadbalancer

import (
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
)

// Wanted is the load balancer for a Service beside no others.
func Wanted(namespace string, of *corev1.Service) (*corev1.Service, error) {
	return wanted(namespace, of, nil)
}

// Touched lets through the Services that matter.
func Touched() predicate.Predicate { return touched() }

// Endpoints are the machines that a load balancer leads to which does not lead to all.
var Endpoints = endpoints
