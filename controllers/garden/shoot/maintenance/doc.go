// SPDX-License-Identifier: Apache-2.0

// Package maintenance maintains each Shoot once a day in its maintenance time window, or when its owner asks for it: it raises
// versions of Kubernetes and of machine images, and starts an operation that reconciles the shoot or carries out what was left
// for the window (GCM-MAINT-1 to GCM-MAINT-14).
//
// What a maintenance does is decided by pure functions from the Shoot, its cloud profile and the time. All of it is one write,
// which the server tries as a dry run before, and which is refused if the Shoot was changed since it was read: then all is decided
// anew. The status says before that write that a maintenance is under way, and afterwards what became of it.
//
// A server may be killed between any two of these writes. So the write leaves the time of the announcement in an annotation, together with
// what it changes. An announced maintenance whose time is there was made, and only the report is missing, unless an announced step
// is planned again: then somebody else has written the time. One whose time is not there was not made: it is planned and made anew as long
// as the window is open, and left for the next one after that. Either way the shoot is maintained once. The operation does not tell
// whether it was: the server or the gardenlet takes it away, and the gardenlet may be at work for another reason.
package maintenance
