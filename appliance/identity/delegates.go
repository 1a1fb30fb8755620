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

// EncryptedResources is Encryption.Resources.
func (g *Garden) EncryptedResources() (resources []string, provider string, err error) {
	return g.Encryption.Resources()
}

// EncryptsAll is Encryption.EncryptsAll.
func (g *Garden) EncryptsAll() error { return g.Encryption.EncryptsAll() }

// EncryptionFixed is Encryption.Fixed.
func (g *Garden) EncryptionFixed() error { return g.Encryption.Fixed() }

// EncryptionRotation is Encryption.Rotation.
func (g *Garden) EncryptionRotation() (*EncryptionRotation, error) { return g.Encryption.Rotation() }
