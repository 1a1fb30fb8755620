// SPDX-License-Identifier: Apache-2.0

package identity

// The methods below are those of the parts of a Garden, until all who use them call the parts.

// TokenKeys is ServiceAccountKeyring.Keys.
func (g *Garden) TokenKeys() *TokenKeys { return g.ServiceAccount.Keys() }

// WorkloadIdentityKeys is WorkloadIdentityKeyring.Keys.
func (g *Garden) WorkloadIdentityKeys() *WorkloadIdentityKeys { return g.WorkloadIdentity.Keys() }

// SignWorkloadIdentity is WorkloadIdentityKeyring.Sign.
func (g *Garden) SignWorkloadIdentity(claims any) (string, error) {
	return g.WorkloadIdentity.Sign(claims)
}
