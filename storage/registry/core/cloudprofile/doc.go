// SPDX-License-Identifier: Apache-2.0

// Package cloudprofile keeps CloudProfiles: what a provider offers to shoots.
package cloudprofile
