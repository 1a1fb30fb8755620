// SPDX-License-Identifier: Apache-2.0

// Package namespacedcloudprofile writes into the status of each NamespacedCloudProfile what it offers together with its
// parent, and keeps it alive for as long as a Shoot uses it (GCM-NCP-1).
package namespacedcloudprofile
