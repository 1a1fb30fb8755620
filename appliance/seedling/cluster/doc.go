// SPDX-License-Identifier: Apache-2.0

// Package cluster starts a one-node Kubernetes cluster on this machine, reports its state, and removes it completely.
// Every change to the machine is recorded before it is made.
package cluster
