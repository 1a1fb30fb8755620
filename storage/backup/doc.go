// SPDX-License-Identifier: Apache-2.0

// Package backup takes snapshots of a garden while it runs, keeps them, and makes a data directory from them.
//
// A snapshot is one file with everything that a garden cannot make again: the newest state of all objects and Events, each
// read in one transaction of its database, the keys and authorities, and the timeline. An increment holds the writes between two
// revisions, and goes on where the snapshot or the increment before it has ended. Both have one form: parts, compressed and
// encrypted with age while they are read, so that nothing is ever on a disk in the clear, and a footer that says what is in it.
//
// A restore reads a snapshot and the increments after it into a new directory beside the data directory, checks it, and moves it
// into place by one rename. The revisions of the garden then jump ahead, beyond everything that was ever given out, so that no
// client can take a state that it saw before for a part of the restored one.
//
// Records are read in the same transaction as the revision that the file names, and keys after that: a key that encrypts a
// record is made before the record and removed long after.
package backup
