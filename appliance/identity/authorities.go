// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"sync"
	"time"
)

// clientSignerFile has the certificate and the key with which client certificates are signed: the signer wants no others beside it.
const clientSignerFile = "client-ca-signer.pem"

// authorities are the names of the files of the authorities.
func authorities() []string { return []string{serverAuthority, clientAuthority, frontProxyAuthority} }

// Authorities are the certificate authorities of a garden.
type Authorities struct {
	// Server signs the serving certificate. A rotation changes it and the two below, but not the paths of their files: while it may run,
	// only these may be used, and CABundle.
	Server Authority
	// Client signs the client certificates of the administrator and of certificate signing requests.
	Client Authority
	// FrontProxy signs the certificate with which the aggregation layer authenticates on behalf of users.
	FrontProxy Authority

	// pki is the directory of keys.
	pki string
	// mu guards the authorities and the certificates that they have signed, which change together.
	mu *sync.RWMutex
	// changed is closed when the CA bundle changes; it is nil until somebody waits for that.
	changed chan struct{}
}

// CABundle returns the CA bundle exactly as the garden publishes it at /cacerts.
func (a *Authorities) CABundle() []byte {
	a.mu.RLock()
	defer a.mu.RUnlock()

	return a.Server.Bundle
}

// WatchCABundle returns the CA bundle, and a channel that is closed when there is another one.
func (a *Authorities) WatchCABundle() ([]byte, <-chan struct{}) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.changed == nil {
		a.changed = make(chan struct{})
	}

	return a.Server.Bundle, a.changed
}

// CAHash returns the hash of the CA bundle for join tokens.
func (a *Authorities) CAHash() string { return HashCA(a.CABundle()) }

// Marks identify the authorities that clients have to know when a rotation is completed: the CA bundle that they trust, and
// the authority that has signed their certificate.
func (a *Authorities) Marks() (bundle, issuer string) {
	a.mu.RLock()
	defer a.mu.RUnlock()

	return BundleMark(a.Server.Bundle), hex.EncodeToString(a.Client.Cert.SubjectKeyId)
}

// ServingAuthority returns the certificate of the authority that signs the serving certificate.
func (a *Authorities) ServingAuthority() []byte {
	a.mu.RLock()
	defer a.mu.RUnlock()

	return encodeCert(a.Server.Cert.Raw)
}

// ClientSignerFile is the path of a file with the certificate and the key of the client CA that signs.
func (a *Authorities) ClientSignerFile() string { return filepath.Join(a.pki, clientSignerFile) }

// take reads the authorities again, and tells who waits for another CA bundle.
func (a *Authorities) take(now time.Time) error {
	before := a.Server.Bundle
	if err := a.load(now); err != nil {
		return err
	}
	if err := a.writeClientSigner(); err != nil {
		return err
	}
	if a.changed != nil && !bytes.Equal(before, a.Server.Bundle) {
		close(a.changed)
		a.changed = nil
	}

	return nil
}

// load reads and checks the authorities.
func (a *Authorities) load(now time.Time) error {
	for _, of := range []struct {
		name string
		into *Authority
	}{{serverAuthority, &a.Server}, {clientAuthority, &a.Client}, {frontProxyAuthority, &a.FrontProxy}} {
		is, err := loadAuthority(a.pki, of.name, now)
		if err != nil {
			return err
		}
		*of.into = is
	}

	return nil
}

// writeClientSigner writes the file for the signer of client certificates if it is not what it should be.
func (a *Authorities) writeClientSigner() error {
	keyPEM, err := encodeKey(a.Client.Key)
	if err != nil {
		return err
	}
	want := append(encodeCert(a.Client.Cert.Raw), keyPEM...)
	if is, err := readPrivate(a.ClientSignerFile()); err == nil && bytes.Equal(is, want) {
		return nil
	}

	return writeFile(a.ClientSignerFile(), want)
}

// HashCA returns the hash of a CA bundle, exactly as it is served, in the form of join tokens.
func HashCA(bundle []byte) string {
	sum := sha256.Sum256(bundle)
	return hex.EncodeToString(sum[:])
}

// BundleMark identifies a CA bundle.
func BundleMark(bundle []byte) string { return HashCA(bytes.TrimSpace(bundle)) }
