// SPDX-License-Identifier: Apache-2.0

// Package deploy brings sets of objects into a cluster: it applies them, waits for them, deletes them, and prunes objects that
// are no longer part of a set. It is the only engine for this; components only render objects.
//
// Objects are applied with server-side apply under one field owner, so that a second run changes nothing and fields that
// others set stay as they are. Every read bypasses the caches of the client, because it has to see what was written a moment ago.
package deploy
