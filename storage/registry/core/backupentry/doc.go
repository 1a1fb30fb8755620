// SPDX-License-Identifier: Apache-2.0

// Package backupentry keeps BackupEntries: the parts of backup buckets that belong to shoots.
package backupentry
