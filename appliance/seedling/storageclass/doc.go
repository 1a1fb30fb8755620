// SPDX-License-Identifier: Apache-2.0

// Package storageclass serves the default StorageClass of a seedling: each claim gets a folder on this
// machine, which is deleted with the claim.
package storageclass
