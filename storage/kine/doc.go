// SPDX-License-Identifier: Apache-2.0

// Package kine runs Kine inside this process and sets all of Kine's options.
//
// A garden keeps its objects and its Events in two SQLite databases, each behind a server that speaks the etcd
// protocol. Acknowledged writes survive a power failure: every commit is synced. An external datastore (PostgreSQL, MySQL
// or etcd) can replace both.
package kine
