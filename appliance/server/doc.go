// SPDX-License-Identifier: Apache-2.0

// Package server is the server role: a whole garden in one process, as an ordered list of units.
//
//	listener ─► identity ─► datastore ─► timeline ─► api server ─► first objects ─► kube controllers ─► garden controllers
//	─► announce
//
// Each unit starts when the one before it is ready, and stops before it does. The port is taken first: a start that
// cannot have it has written nothing. The garden is ready when all units are.
package server
