// SPDX-License-Identifier: Apache-2.0

// Package sharing is for the servers of a garden that share an external datastore.
//
// One of them leads and serves the garden ([Leadership]); the others forward connections to it. All have the same keys: a change is published,
// sealed, before it is used, and a server that stands by takes it up.
package sharing
