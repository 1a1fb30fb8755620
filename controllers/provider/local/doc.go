// SPDX-License-Identifier: Apache-2.0

// Package local is the extension `provider-local`: it creates the worker machines, the pod network and the DNS records of shoots
// on a seedling, so that a garden can be tried without a cloud. It acts on the extension objects of type `local` in the seed, and
// on nothing else. A garden gets it by a ControllerRegistration for its kinds and a ControllerDeployment with its chart.
//
// A worker machine is a privileged pod, of the seed or of another cluster (package cloud), that runs containerd and a kubelet (package
// machine). Its name is the name of the Node, its address is the address of the pod. Each kind has a package with its actor; engine is
// what all kinds have in common.
package local
