// SPDX-License-Identifier: Apache-2.0

// Package kine runs Kine inside this process and owns every value that Kine leaves open.
//
// A garden keeps its objects and its Events in two SQLite databases, each behind a unix socket that speaks the etcd
// protocol. What was acknowledged survives a power cut: every commit is synced. An external datastore (PostgreSQL,
// MySQL, NATS, etcd) can take the place of both.
package kine
