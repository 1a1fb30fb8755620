// SPDX-License-Identifier: Apache-2.0

// Package managedresource keeps the objects of ManagedResources as their manifests say: it applies them one after the other, deletes
// what left the manifests, and deletes all of them before a ManagedResource goes.
//
// Objects are applied with server-side apply under one field owner. So what others set beside the manifests stays, and what they
// change of the manifests is changed back by the next run, which comes with a change of the ManagedResource or of its Secrets, or
// after the sync period. Where this is not enough, there is an exception: exceptions are a table with a reason each.
//
// The status lists every object that may exist before the first one is applied, so that a run that is interrupted forgets none.
package managedresource
