// SPDX-License-Identifier: Apache-2.0

// Package cloudprofile keeps a CloudProfile alive for as long as a Shoot uses it or a
// NamespacedCloudProfile extends it (GCM-CLOUDPROFILE-1).
package cloudprofile
