// SPDX-License-Identifier: Apache-2.0

// Package log keeps the objects of a garden as an append-only log in one SQLite file, and is the datastore behind
// Kine's server of the etcd API.
//
// Every write appends one record. Its revision is its place in the log; revisions have no gaps. One goroutine writes:
// it judges all writes that wait against the newest state, appends what is accepted in one transaction, and syncs it
// to the disk once (group commit). Only then does it publish the batch, in one step, under one lock: the newest state
// of each key, the history in memory, the watches, and the current revision change together. Answers follow
// publication.
//
// Reads return the state at the published revision, never a later one that is committed but not yet published. So a
// read returns a state at least as new as everything that any client was told before the read began: answers to
// writes, whether accepted or refused, other reads, events and progress of watches all come from the published state,
// and that state only grows.
//
// Old records are removed in small steps by the same goroutine, so that removal never competes with a write for
// SQLite's lock.
package log
