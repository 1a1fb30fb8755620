// SPDX-License-Identifier: Apache-2.0

// Package nodes opens new nodes of shoots for pods. A kubelet registers its node with a taint that keeps pods away until those run that
// every pod on a node relies on, such as the network and kube-proxy. This package looks at them and removes the taint (GRM-NODE-1).
package nodes
