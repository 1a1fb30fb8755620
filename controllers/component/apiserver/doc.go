// SPDX-License-Identifier: Apache-2.0

// Package apiserver renders the kube-apiserver of a shoot and the load balancer in front of it.
package apiserver
