// SPDX-License-Identifier: Apache-2.0

// Package bootstrap creates the first objects of a garden: its namespaces, its roles and bindings, the priority of what gardenlets ask
// for, its public information, and its identity, which never changes. Each start updates all of them, except the identity, to the state of
// this version; what is in this state is not written.
package bootstrap
