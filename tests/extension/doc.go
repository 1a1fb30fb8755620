// SPDX-License-Identifier: Apache-2.0

// Command greeting is an extension of kind Extension, written against the published contract only: it is a module of its own and uses
// Kubernetes' libraries and the API types. docs/extensions.md explains it. For each cluster that asks for it, it keeps a ConfigMap with
// a greeting beside the control plane.
package main
