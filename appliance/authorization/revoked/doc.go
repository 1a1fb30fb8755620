// SPDX-License-Identifier: Apache-2.0

// Package revoked shuts seeds out of the garden. A seed is shut out while its record says so, see package revocation.
//
// All its credentials are refused: the certificates of its gardenlet, and the tokens of all service accounts in its namespace and of
// the one with which it joins. Its open requests are ended, watches included, and Revoke returns when they have. A request that comes
// through the chain at the same time is either ended or refused, because it is registered before it is judged for the last time.
package revoked
