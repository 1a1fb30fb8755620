// SPDX-License-Identifier: Apache-2.0

// Package activity notes in the status of each Project when something last happened in it (GCM-ACTIVITY-1, GCM-ACTIVITY-2):
// to its Shoots, its BackupEntries, its Quotas, and the credentials that bindings name.
package activity
