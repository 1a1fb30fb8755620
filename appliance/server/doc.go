// SPDX-License-Identifier: Apache-2.0

// Package server runs a whole garden in one process, as an ordered list of units.
//
//	listener ─► identity ─► datastore ─► leadership ─► timeline ─► snapshots ─► audit ─► api server ─► first objects
//	─► kube controllers ─► garden controllers ─► store health ─► certificates ─► encryption ─► authorities ─► announce
//
// Each unit starts when the one before it is ready, and stops before it. The port is opened first, so a start that fails because
// the port is in use writes nothing. The garden is ready when all units are ready.
//
// What the API server and later units share is made once, of the values of the units before (parts.go): structs that have what one concern
// needs, and know nothing of the server. Some are packages: rotation changes keys, sharing is for servers with one datastore, and standby
// answers while a server does not serve yet.
package server
