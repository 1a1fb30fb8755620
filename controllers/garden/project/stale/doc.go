// SPDX-License-Identifier: Apache-2.0

// Package stale finds Projects that nobody uses and deletes them some months later (GCM-STALE-1 to GCM-STALE-6). The status of a
// stale Project says since when it is stale, and after a grace period when it will be deleted. A Project that is used again in
// time is not stale any more.
package stale
