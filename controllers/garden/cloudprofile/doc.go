// SPDX-License-Identifier: Apache-2.0

// Package cloudprofile writes into the status of each CloudProfile in which stage of life its versions are
// (GCM-CLOUDPROFILE-2), and keeps it alive for as long as a Shoot uses it or a NamespacedCloudProfile extends it
// (GCM-CLOUDPROFILE-1).
package cloudprofile
