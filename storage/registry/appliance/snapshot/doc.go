// SPDX-License-Identifier: Apache-2.0

// Package snapshot serves the snapshots of the garden as objects of the API: they are listed, read, taken and deleted. Who may do
// so says RBAC, and only administrators may by default: a snapshot is encrypted, but to delete all of them is a disaster of its own.
package snapshot
