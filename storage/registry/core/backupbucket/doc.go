// SPDX-License-Identifier: Apache-2.0

// Package backupbucket keeps BackupBuckets: places in object stores for the backups of a seed.
package backupbucket
