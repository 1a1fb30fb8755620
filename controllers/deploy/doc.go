// SPDX-License-Identifier: Apache-2.0

// Package deploy brings sets of objects into a cluster: it applies them, waits for them, deletes them, and prunes what
// left a set. It is the only engine for this; components only render objects.
//
// Objects are applied with server-side apply under one field owner, so that a second run changes nothing and fields that
// others set are left alone. Every read goes around caches of the client, because what was written a moment ago has to be
// seen.
package deploy
