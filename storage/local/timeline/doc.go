// SPDX-License-Identifier: Apache-2.0

// Package timeline keeps what happened to the objects of a garden, in a bbolt file of its own.
//
// Entries are numbered in the order in which they were added, and never change. One goroutine writes: all entries that wait are
// written in one transaction, which is on the disk before any of them is acknowledged or given to a watch. Entries that are too
// old are removed in small transactions between the writes. If the file uses too much space, the oldest entries of those who use
// most are removed, so that no seed and no project can erase the history of others.
//
// The file has three buckets. The bucket "origins" has a bucket for each origin: who wrote, and in which namespace. That has an
// entry by its number. The bucket "numbers" has the time, the size and the origin of each entry by its number. The bucket
// "subjects" has the numbers of the entries of each object, under its namespace, kind and name, so that the timeline of one object
// is read without the others. How much each origin uses is counted at the start, and kept in memory.
package timeline
