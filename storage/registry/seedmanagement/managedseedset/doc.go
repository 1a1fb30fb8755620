// SPDX-License-Identifier: Apache-2.0

// Package managedseedset keeps ManagedSeedSets: sets of identical managed seeds. Their size can be changed through the
// subresource scale, like that of a Deployment.
package managedseedset
