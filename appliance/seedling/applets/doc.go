// SPDX-License-Identifier: Apache-2.0

// Package applets holds the programs in the seedling binary: those of a Kubernetes cluster, each built from its
// Go module and run as its main package would run it, and the agent of the pod network of local shoots.
package applets
