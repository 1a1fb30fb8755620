// SPDX-License-Identifier: Apache-2.0

// Package generations keeps what all servers of a garden have to hold alike, and that must be nobody else's, in the datastore that they
// share: one sealed value, which has a number that grows with each change, and for each server a note of which number it holds.
//
// A value is replaced only by who names the revision of the one before, so of two servers that want to change it only one can, and only if
// it has seen all changes. Servers write their notes again every few seconds. Whether a server lives is told by whether its note changes, as
// seen by the clock of who asks: no clocks are compared, and a server that is off keeps nobody waiting for long.
//
// Beside that it keeps which version of the program has last led these servers, so that an older one can refuse to.
//
// This package does not know what is sealed, nor the key.
package generations
