// SPDX-License-Identifier: Apache-2.0

// Package backupbuckets says in condition BackupBucketsReady of each seed with backups whether there is where to keep them
// (GCM-SEEDBB-1 to GCM-SEEDBB-3).
package backupbuckets
