// SPDX-License-Identifier: Apache-2.0

// Package storageclass serves the default StorageClass of a seedling: each claim gets a folder on this
// machine, and the folder goes with the claim.
package storageclass
