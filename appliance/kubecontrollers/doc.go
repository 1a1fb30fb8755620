// SPDX-License-Identifier: Apache-2.0

// Package kubecontrollers runs the loops of kube-controller-manager that a garden needs: those that look after
// namespaces, owners, quotas, service accounts, certificates, bootstrap tokens and aggregated roles. Loops for pods and
// nodes are none of its business.
package kubecontrollers
