// SPDX-License-Identifier: Apache-2.0

// Package apiserver is the API server of a garden: the generic control plane of Kubernetes and the garden's own groups
// behind one TLS port.
//
// Four servers form a chain, each answering what it knows and passing on the rest:
//
//	aggregator ──► kube ──► garden ──► custom resources ──► not found
//
// The first one authenticates and authorizes for all of them. A Config is completed, the Completed makes a Server, and
// the Server runs once. Nothing starts before Run.
package apiserver
