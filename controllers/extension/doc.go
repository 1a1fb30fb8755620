// SPDX-License-Identifier: Apache-2.0

// Package extension asks extensions to act: it writes objects of the group extensions.gardener.cloud into the seed, marks
// them with an operation, and waits for the answer in their status. It is one engine for every kind.
//
// The order of the readiness checks, the annotations and the patience are part of the contract with extensions that were not
// written by us.
package extension
