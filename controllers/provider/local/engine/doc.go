// SPDX-License-Identifier: Apache-2.0

// Package engine is the part of the extension contract that is the same for every kind: which events start a run, the type of its
// operation, the finalizer, the operation annotation, the status and retries. An Actor does the work for the objects of one kind.
//
// A run starts when the object requests it (annotation gardener.cloud/operation), is new, is being deleted, or when its last run
// did not succeed; a changed spec alone starts nothing. Objects of shoots whose last operation has failed for good are ignored.
package engine
