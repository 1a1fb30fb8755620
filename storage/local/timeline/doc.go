// SPDX-License-Identifier: Apache-2.0

// Package timeline keeps what happened to the objects of a garden, in a bbolt file of its own.
//
// Entries are numbered in the order in which they were added, and never change. One goroutine writes: all entries that wait are
// written in one transaction, which is on the disk before any of them is acknowledged or given to a watch. Entries that are too
// old, and the oldest ones if the file uses too much space, are removed in small transactions between the writes.
//
// The file has two buckets. The bucket "entries" has an entry by its number. The bucket "subjects" has the numbers of the entries
// of each object, under its namespace, kind and name, so that the timeline of one object is read without the others.
package timeline
