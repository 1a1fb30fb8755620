// SPDX-License-Identifier: Apache-2.0

// Package fresh decides when the watch cache may answer a read, and serves watches from versions that are no longer in the
// watch cache but still in the log. It is a layer for all kinds, Kubernetes' own and the garden's, and requires that the
// objects are kept in a log of this process.
//
// # Reads
//
// A read without a version has to return a state at least as new as everything that any client has seen before the read
// began: responses to writes, accepted or rejected, other reads, events, bookmarks. The rule:
//
//   - A get of a key takes what the cache has if its version is at least the head of the key, which is the revision of
//     the key's newest record, asked of the log before the cache is. If the key does not exist in the log, the cache has
//     to say so too.
//   - A list takes what the cache has once its version is at least that of the newest record among the keys of the kind,
//     asked of the log before the cache is. So does a watch that begins with the state.
//   - Everything else is read from the store.
//
// Why this is correct: let S(r) be the state after revision r, and p the published revision, which only grows.
//
//  1. Whatever a client is told derives from S(q) of a published q, and q <= p from then on: the store reads S(p), a
//     write is answered after its publication, a refusal rests on S(p) (the API server may first judge by the cache,
//     but reads the store before it refuses or leaves out a write), and the watch cache, all events, and all bookmarks
//     are fed by watches, which carry published records only.
//  2. So it suffices that a read returns, of the keys that it reads, S(q) with q >= p0, where p0 is p at some moment
//     after the read began: the moment at which the log is asked.
//  3. Get. Let h be the head of the key at that moment, and v the version of what the cache has. If v = h, it is the
//     key's state in S(p0). If v > h > 0, it was published after that moment and before the cache knew it, and is the
//     key's state in S(v), v > p0. If h = 0 and the cache has nothing, neither has S(p0). In all other cases the cache
//     is behind, or may be, and is not used: what it has if h = 0 may be a deleted object.
//  4. List. Let l be the newest record of the kind's keys at that moment, and c the cache's version when it answers.
//     The cache holds S(c) of these keys: a watch of the log never tells progress ahead of changes (package etcdwatch),
//     and carries changes in their order and without a gap. c >= l. If c >= p0, that is what 2 asks for. Else none of
//     the keys has changed between c and p0, as the newest change is l <= c: S(c) and S(p0) are the same for them. The
//     list is then given the version p0, so that versions of lists do not go back either.
//  5. Store. A read of the store that began when b was published shows S(q) with q >= b. A list takes the result of one that began
//     for another list if b >= p0, or if b >= l, which is case 4.
//
// The last rule keeps a watch cache that is behind from falling back further: lists that cannot wait for it any longer share what is
// read and decoded in place of the cache, whatever they select. At most one read for them runs and another one waits for its end, and
// all other lists from the store, such as of pages, take turns.
//
// An object in the cache is shared by all its readers. So a get returns a copy, except to callers that do not change it; see
// Shared. The contents that the cache has put into the caller's object are removed before the store is read: a decoder adds
// to an object, and would change the cache.
//
// # Watches
//
// The watch cache is empty after each start and keeps a short history; the log keeps a longer one. A watch from a version
// that is no longer in the cache but still in the log gets the records of the log first, and continues with the cache from
// the revision up to which everything has been delivered. So does a watch that the cache has ended because it did not take its
// events: its client sees no end, and does not have to ask again. It ends if it was still being told of the state with which it began,
// as nothing says then what it has been told of; that state is complete with the first bookmark, so a watch that begins with a state and
// wants no bookmarks ends, too.
//
// Many watches select the same way: each gardenlet watches the shoots of its seed. A watch cache asks each of its watches about
// each change, so a thousand gardenlets would cost a thousand times as much as one, and it ends those that are not fast enough. Such
// watches are not watches of the cache. They share an index of what the records of the kind can be selected by, so each record is
// decoded once, and a crowd, which finds the watches that a new record concerns by a label or field that they require to have a value.
// A watch reads only the records that concern it. One that does not keep up is not ended but goes on with the index. A watch that begins
// with the state gets what a list of it contains: the watch cache would prepare an event for each object of the kind before it selects.
//
// A watch with a selector that is further behind than 20,000 records of its kind is told to list the state, which takes less. One
// whose selector requires no single value of a label or field continues with the cache after the log.
package fresh
