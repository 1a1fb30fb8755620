// SPDX-License-Identifier: Apache-2.0

// Package leader decides which of several servers leads: the one that holds a lease in the datastore that they share.
//
// The lease is one key. Its holder writes it again every few seconds; each write names the revision of the one before, so two servers
// cannot both succeed. Others take the lease once it was not written for its whole length, which they measure with their own
// clocks from when they saw the last write: no clocks are compared. The holder stops to count on the lease some time before that, so
// there is never a moment at which two servers count on it, as long as clocks run equally fast. A machine that was suspended finds that out by
// its wall clock, a quarter of a second after it goes on, also during a write: another server may have taken the lease meanwhile.
//
// If the datastore does not answer, nobody can take the lease. The holder does not count on it meanwhile, and goes on with it if its next
// write succeeds: that write names the revision of its last one, so nobody can have held the lease in between.
package leader
