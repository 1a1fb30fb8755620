// SPDX-License-Identifier: Apache-2.0

// Package server runs a whole garden in one process, as an ordered list of units.
//
//	listener ─► identity ─► datastore ─► leadership ─► timeline ─► audit ─► api server ─► first objects ─► kube controllers ─► garden controllers
//	─► store health ─► announce
//
// Each unit starts when the one before it is ready, and stops before it. The port is opened first, so a start that fails because
// the port is in use writes nothing. The garden is ready when all units are ready.
package server
