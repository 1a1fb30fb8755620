// SPDX-License-Identifier: Apache-2.0

// Package certificates approves or denies the requests of kubelets in shoots for serving certificates (GRM-CSR-1). The controller
// manager of the shoot signs what is approved, with an authority that is trusted for kubelets only.
//
// A node may have a certificate for its own name and addresses, and for nothing else. It can write the status of its own Node, so a
// request is not believed because it fits the Node: nothing in it may belong to another Node as well.
//
// It also decides on the requests of node agents for client certificates (GRM-CSR-2). An agent asks as the kubelet of its node, and gets
// what lets it read the configuration of one pool: the one that the Machine in the seed says, because a node could change its own labels.
package certificates
