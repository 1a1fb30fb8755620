// SPDX-License-Identifier: Apache-2.0

// Package engine is the part of the extension contract that is the same for every kind: which events start a run, which operation
// a run is, finalizer, operation annotation, status, retry. What to do for an object is said by an Actor.
//
// An object is acted on when it asks for it (annotation gardener.cloud/operation), is new, is being deleted, or when its last run
// did not succeed; a changed spec alone starts nothing. Objects of shoots whose last operation failed for good are left alone.
package engine
