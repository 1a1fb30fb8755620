// SPDX-License-Identifier: Apache-2.0

// Package maintenance maintains each Shoot once a day in its maintenance time window, or when its owner asks for it: it raises
// versions of Kubernetes and of machine images, and starts an operation that reconciles the shoot or carries out what was left
// for the window (GCM-MAINT-1 to GCM-MAINT-14).
//
// What a maintenance does is decided by pure functions from the Shoot, its cloud profile and the time. All of it is one write,
// which the server tries as a dry run before, and which is refused if the Shoot was changed since it was read: then all is decided
// anew. The status says before that write that a maintenance is under way, and afterwards what became of it. A maintenance that
// was interrupted between the two is repeated while the window is open. What had been done by then is not needed any more, so the
// repetition only reconciles the shoot once more.
package maintenance
