// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"crypto/tls"
	"crypto/x509"
	"time"
)

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

// CABundle is Authorities.CABundle.
func (g *Garden) CABundle() []byte { return g.Authorities.CABundle() }

// WatchCABundle is Authorities.WatchCABundle.
func (g *Garden) WatchCABundle() ([]byte, <-chan struct{}) { return g.Authorities.WatchCABundle() }

// CAHash is Authorities.CAHash.
func (g *Garden) CAHash() string { return g.Authorities.CAHash() }

// AuthorityMarks is Authorities.Marks.
func (g *Garden) AuthorityMarks() (bundle, issuer string) { return g.Authorities.Marks() }

// ServingAuthority is Authorities.ServingAuthority.
func (g *Garden) ServingAuthority() []byte { return g.Authorities.ServingAuthority() }

// ClientSignerFile is Authorities.ClientSignerFile.
func (g *Garden) ClientSignerFile() string { return g.Authorities.ClientSignerFile() }

// AdminSession is Authorities.AdminSession.
func (g *Garden) AdminSession(now time.Time, lifetime time.Duration) (*x509.Certificate, error) {
	return g.Authorities.AdminSession(now, lifetime)
}

// AuthorityRotation is Authorities.Rotation.
func (g *Garden) AuthorityRotation() (*AuthorityRotation, error) { return g.Authorities.Rotation() }

// Renew is Certificates.Renew.
func (g *Garden) Renew(now time.Time, all bool) ([]string, error) {
	return g.Certificates.Renew(now, all)
}

// RenewalDue is Certificates.RenewalDue.
func (g *Garden) RenewalDue() time.Time { return g.Certificates.RenewalDue() }

// SetDomains is Certificates.SetDomains.
func (g *Garden) SetDomains(names []string, now time.Time) ([]string, error) {
	return g.Certificates.SetDomains(names, now)
}

// ServingCertificate is Certificates.ServingCertificate.
func (g *Garden) ServingCertificate() (*tls.Certificate, error) {
	return g.Certificates.ServingCertificate()
}

// AdminAccess is Certificates.AdminAccess.
func (g *Garden) AdminAccess(name, server string) Access {
	return g.Certificates.AdminAccess(name, server)
}

// WriteAdminKubeconfig is Certificates.WriteAdminKubeconfig.
func (g *Garden) WriteAdminKubeconfig(server string) error {
	return g.Certificates.WriteAdminKubeconfig(server)
}

// Grow is Sharing.Grow.
func (g *Garden) Grow() error { return g.Sharing.Grow() }

// Growth is Sharing.Growth.
func (g *Garden) Growth(published Generation) (*Sealed, error) { return g.Sharing.Growth(published) }

// Share is Sharing.Share.
func (g *Garden) Share(publish Publish) { g.Sharing.Share(publish) }

// Held is Sharing.Held.
func (g *Garden) Held() (Generation, error) { return g.Sharing.Held() }

// Proposal is Sharing.Proposal.
func (g *Garden) Proposal(published *Generation) (*Sealed, error) {
	return g.Sharing.Proposal(published)
}

// MayBegin is Sharing.MayBegin.
func (g *Garden) MayBegin() error { return g.Sharing.MayBegin() }

// Hold is Sharing.Hold.
func (g *Garden) Hold(is Generation) error { return g.Sharing.Hold(is) }

// TakeUp is Sharing.TakeUp.
func (g *Garden) TakeUp(from Sealed, running bool, now time.Time) (bool, error) {
	return g.Sharing.TakeUp(from, running, now)
}

// StartAuthorityRotation is Changes.StartAuthorityRotation.
func (g *Garden) StartAuthorityRotation(now time.Time) error {
	return g.Changes.StartAuthorityRotation(now)
}

// NoteAuthoritiesSaved is Changes.NoteAuthoritiesSaved.
func (g *Garden) NoteAuthoritiesSaved(now time.Time) error {
	return g.Changes.NoteAuthoritiesSaved(now)
}

// ContinueAuthorityRotation is Changes.ContinueAuthorityRotation.
func (g *Garden) ContinueAuthorityRotation(now time.Time) error {
	return g.Changes.ContinueAuthorityRotation(now)
}

// SwitchAuthorities is Changes.SwitchAuthorities.
func (g *Garden) SwitchAuthorities(now time.Time) error {
	return g.Changes.SwitchAuthorities(now)
}

// ForgetAuthorities is Changes.ForgetAuthorities.
func (g *Garden) ForgetAuthorities(now time.Time) error {
	return g.Changes.ForgetAuthorities(now)
}

// EndAuthorityRotation is Changes.EndAuthorityRotation.
func (g *Garden) EndAuthorityRotation(now time.Time) error {
	return g.Changes.EndAuthorityRotation(now)
}

// StartEncryptionRotation is Changes.StartEncryptionRotation.
func (g *Garden) StartEncryptionRotation(now time.Time) error {
	return g.Changes.StartEncryptionRotation(now)
}

// AdvanceEncryptionRotation is Changes.AdvanceEncryptionRotation.
func (g *Garden) AdvanceEncryptionRotation(step EncryptionStep, now time.Time) error {
	return g.Changes.AdvanceEncryptionRotation(step, now)
}

// StartTokenKeyRotation is Changes.StartTokenKeyRotation.
func (g *Garden) StartTokenKeyRotation(now time.Time) error {
	return g.Changes.StartTokenKeyRotation(now)
}

// CompleteTokenKeyRotation is Changes.CompleteTokenKeyRotation.
func (g *Garden) CompleteTokenKeyRotation(id string, now time.Time) error {
	return g.Changes.CompleteTokenKeyRotation(id, now)
}

// StartWorkloadIdentityRotation is Changes.StartWorkloadIdentityRotation.
func (g *Garden) StartWorkloadIdentityRotation(now time.Time) error {
	return g.Changes.StartWorkloadIdentityRotation(now)
}

// CompleteWorkloadIdentityRotation is Changes.CompleteWorkloadIdentityRotation.
func (g *Garden) CompleteWorkloadIdentityRotation(id string, now time.Time) error {
	return g.Changes.CompleteWorkloadIdentityRotation(id, now)
}
