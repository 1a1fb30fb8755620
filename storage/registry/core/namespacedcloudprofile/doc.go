// SPDX-License-Identifier: Apache-2.0

// Package namespacedcloudprofile keeps NamespacedCloudProfiles: what a project adds to a CloudProfile.
package namespacedcloudprofile
