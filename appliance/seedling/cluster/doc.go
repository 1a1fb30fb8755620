// SPDX-License-Identifier: Apache-2.0

// Package cluster brings a one-node Kubernetes cluster up on this machine, tells how it is, and takes it
// down again without a trace. What is made is always written down before it is made.
package cluster
