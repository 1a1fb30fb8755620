// SPDX-License-Identifier: Apache-2.0

// Package shootstate saves in the garden what another seed would need to take over a shoot: the Secrets of its control plane that nothing can
// make again, what its extensions know, and which machines it has. Each state is written every few hours, at times of its own, for seeds that
// nobody else backs up.
//
// A state is written as a whole or not at all: one that cannot be read in full, or that the garden could not store, leaves the last one as it
// is, and an event of the Shoot says why. What is read is in the namespace of the control plane, and no content gets into a log or an event.
package shootstate
