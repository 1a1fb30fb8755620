// SPDX-License-Identifier: Apache-2.0

// Package workloadidentity keeps WorkloadIdentities: identities that other systems trust in place of a secret. The
// subresource token answers with a signed token that the server keeps no copy of.
package workloadidentity
