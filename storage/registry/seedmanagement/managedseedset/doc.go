// SPDX-License-Identifier: Apache-2.0

// Package managedseedset keeps ManagedSeedSets: numbers of like managed seeds. Their size can be changed through the
// subresource scale, as that of a Deployment.
package managedseedset
