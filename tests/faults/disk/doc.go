// SPDX-License-Identifier: Apache-2.0

// Package disk stands between SQLite and the file system, for tests: it knows what was synced, loses the rest as a power cut
// does, is slow, is full, and tells of every write.
//
// A program that imports it has system calls of SQLite's (writing, cutting, syncing and removing files) go through this
// package, by functions of the same names as those of the C library. Those of files that are on no Disk go on as they are.
package disk
