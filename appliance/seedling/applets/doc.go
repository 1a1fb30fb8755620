// SPDX-License-Identifier: Apache-2.0

// Package applets holds the programs that the seedling binary can be: those of a Kubernetes cluster, each
// built from its own Go module and run as its own main package would run it, and the agent of the pod
// network of local shoots.
package applets
