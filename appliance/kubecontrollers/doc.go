// SPDX-License-Identifier: Apache-2.0

// Package kubecontrollers runs the controllers of kube-controller-manager that a garden needs: those for namespaces, garbage
// collection, quotas, service accounts, certificates, bootstrap tokens and aggregated roles. A garden has no pods and nodes, so
// there are none for these.
package kubecontrollers
