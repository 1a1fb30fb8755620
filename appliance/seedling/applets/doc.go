// SPDX-License-Identifier: Apache-2.0

// Package applets holds the upstream programs of a Kubernetes cluster that the seedling binary can be,
// each built from its own Go module and run exactly as its own main package would run it.
package applets
