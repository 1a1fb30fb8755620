// SPDX-License-Identifier: Apache-2.0

// Package workloadidentity keeps WorkloadIdentities: identities that external systems trust as an alternative to secrets.
// The subresource token returns a signed token, of which the server keeps no copy.
package workloadidentity
