// SPDX-License-Identifier: Apache-2.0

// Package bastion deletes Bastions that nobody keeps alive any more, that are too old, and whose Shoot ends or moves to
// another seed (GCM-BASTION-1 to GCM-BASTION-5). Who deletes the host of a Bastion holds the object by a finalizer.
package bastion
