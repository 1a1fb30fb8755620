// SPDX-License-Identifier: Apache-2.0

// Package containerruntime gives pools of local shoots the container runtime `local`, which is the runc of the machine under a
// name of its own. It isolates no better than the usual one; it is there to try out pools with further runtimes, and what is
// scheduled by them.
//
// Its program comes with the user data, so that a machine has it before its node is there; containerd is configured for it in
// every machine. In the shoot a RuntimeClass sends pods to the nodes that have it.
package containerruntime
