// SPDX-License-Identifier: Apache-2.0

// Package kubectl tries what clients that were not written by us live on: kubectl, run as its users run it, and what
// gardenctl asks a garden for.
package kubectl
