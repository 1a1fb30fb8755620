// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

const (
	// authorityRotationFile says that the authorities are being changed. It is written before the first step and removed after the
	// last one.
	authorityRotationFile = "authority-rotation.json"
	// nextSuffix ends the names of the files with the certificates and keys of the next authorities.
	nextSuffix = "-next.pem"
	// clientSignerFile has the certificate and the key with which client certificates are signed: the signer wants no others beside it.
	clientSignerFile = "client-ca-signer.pem"

	authorityNamePrefix = "terrarium-"
)

// ErrCompleting says that a rotation is being completed already.
var ErrCompleting = errors.New("the rotation is being completed")

// authorities are the names of the files of the authorities.
func authorities() []string { return []string{serverAuthority, clientAuthority, frontProxyAuthority} }

// AuthorityRotation is a change of the authorities of the garden. First the next ones are trusted beside the current ones, and the
// next client CA signs. When it is completed, the next ones sign everything, and then the former ones are forgotten.
type AuthorityRotation struct {
	// Started is when the next authorities were made.
	Started time.Time `json:"started"`
	// Saved is when the garden was saved with the next authorities; nil before it. Until then nobody is asked to rely on them.
	Saved *time.Time `json:"saved,omitempty"`
	// Completing is when the completion began; nil before it.
	Completing *time.Time `json:"completing,omitempty"`
}

// ClientSignerFile is the path of a file with the certificate and the key of the client CA that signs.
func (g *Garden) ClientSignerFile() string { return filepath.Join(g.Dir, pkiDir, clientSignerFile) }

// AuthorityRotation returns the change of the authorities that goes on, or nil.
func (g *Garden) AuthorityRotation() (*AuthorityRotation, error) {
	path := filepath.Join(g.Dir, pkiDir, authorityRotationFile)
	data, err := os.ReadFile(path) //nolint:gosec // The path is the operator's own.
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // There is none.
	}
	r := &AuthorityRotation{}
	if err == nil {
		err = json.Unmarshal(data, r)
	}
	if err == nil && r.Started.IsZero() {
		err = errors.New("it does not say when the rotation was started")
	}
	if err != nil {
		return nil, &CorruptError{File: path, Err: withoutPath(err), Remedy: remedyRestore}
	}

	return r, nil
}

// AuthorityMarks identify the authorities that clients have to know when a rotation is completed: the CA bundle that they trust, and
// the authority that has signed their certificate.
func (g *Garden) AuthorityMarks() (bundle, issuer string) {
	g.mu.RLock()
	defer g.mu.RUnlock()

	return BundleMark(g.ServerCA.Bundle), hex.EncodeToString(g.ClientCA.Cert.SubjectKeyId)
}

// ServingAuthority returns the certificate of the authority that signs the serving certificate.
func (g *Garden) ServingAuthority() []byte {
	g.mu.RLock()
	defer g.mu.RUnlock()

	return encodeCert(g.ServerCA.Cert.Raw)
}

// BundleMark identifies a CA bundle.
func BundleMark(bundle []byte) string { return HashCA(bytes.TrimSpace(bundle)) }

// StartAuthorityRotation makes the next authorities, and trusts them beside the current ones. The next client CA signs from now on,
// and the administrator gets a certificate of it. The serving certificate stays that of the current authority, which everybody trusts.
// If it is interrupted, Ensure goes on.
func (g *Garden) StartAuthorityRotation(now time.Time) error {
	return g.change(now, func(g *Garden) error { return g.beginAuthorityRotation(now) })
}

func (g *Garden) beginAuthorityRotation(now time.Time) error {
	r, err := g.AuthorityRotation()
	if err != nil {
		return err
	}
	if r != nil {
		return ErrRotating
	}
	r = &AuthorityRotation{Started: now.UTC()}
	if err := g.writeAuthorityRotation(r); err != nil {
		return err
	}

	return g.introduceAuthorities(r, now)
}

// NoteAuthoritiesSaved notes that the garden was saved with the next authorities.
func (g *Garden) NoteAuthoritiesSaved(now time.Time) error {
	return g.change(now, func(g *Garden) error { return g.noteAuthoritiesSaved(now) })
}

func (g *Garden) noteAuthoritiesSaved(now time.Time) error {
	r, err := g.AuthorityRotation()
	if r == nil || err != nil {
		return err
	}
	r.Saved = new(now.UTC())

	return g.writeAuthorityRotation(r)
}

// ContinueAuthorityRotation does what an interrupted StartAuthorityRotation has left to do. It changes nothing if that is nothing, or
// if the rotation is being completed.
func (g *Garden) ContinueAuthorityRotation(now time.Time) error {
	return g.change(now, func(g *Garden) error { return g.continueAuthorityRotation(now) })
}

func (g *Garden) continueAuthorityRotation(now time.Time) error {
	r, err := g.AuthorityRotation()
	if r == nil || err != nil || r.Completing != nil {
		return err
	}

	return g.introduceAuthorities(r, now)
}

// SwitchAuthorities begins to complete a rotation: the next authorities sign everything. The former ones are still trusted until
// ForgetAuthorities. It may be repeated.
func (g *Garden) SwitchAuthorities(now time.Time) error {
	return g.change(now, func(g *Garden) error { return g.completeSwitch(now) })
}

func (g *Garden) completeSwitch(now time.Time) error {
	r, err := g.AuthorityRotation()
	if err != nil {
		return err
	}
	if r == nil {
		return ErrNotRotating
	}
	if r.Completing == nil {
		r.Completing = new(now.UTC())
		if err := g.writeAuthorityRotation(r); err != nil {
			return err
		}
	}

	return g.switchAuthorities(now)
}

// ForgetAuthorities goes on to complete a rotation after SwitchAuthorities: the former authorities are not trusted any more. It may be
// repeated.
func (g *Garden) ForgetAuthorities(now time.Time) error {
	return g.change(now, func(g *Garden) error { return g.completeForget(now) })
}

func (g *Garden) completeForget(now time.Time) error {
	r, err := g.AuthorityRotation()
	if err != nil {
		return err
	}
	if r == nil || r.Completing == nil {
		return ErrNotRotating
	}

	return g.forgetAuthorities(now)
}

// EndAuthorityRotation ends a rotation after ForgetAuthorities.
func (g *Garden) EndAuthorityRotation(now time.Time) error {
	return g.change(now, (*Garden).endAuthorityRotation)
}

func (g *Garden) endAuthorityRotation() error {
	pki := filepath.Join(g.Dir, pkiDir)
	if err := os.Remove(filepath.Join(pki, authorityRotationFile)); err != nil {
		return fmt.Errorf("complete rotation of authorities: %w", err)
	}

	return syncDir(pki)
}

// resumeAuthorityRotation does what an interrupted process has left to do. Nobody uses the garden yet.
func (g *Garden) resumeAuthorityRotation(now time.Time) error {
	r, err := g.AuthorityRotation()
	if err != nil {
		return err
	}
	place, err := DatastorePlace(g.Dir)
	if err != nil {
		return err
	}
	switch {
	case r == nil:
	case place != "":
		// Other servers have to know each step before it is made: this is left to the one that leads.
	case r.Completing == nil:
		return g.introduceAuthorities(r, now)
	default:
		if err := g.switchAuthorities(now); err != nil {
			return err
		}
		if err := g.forgetAuthorities(now); err != nil {
			return err
		}

		return g.endAuthorityRotation()
	}

	return g.writeClientSigner()
}

// introduceAuthorities makes the next authorities unless they exist, and trusts them. The certificate of each comes into its file
// before its key is used: the key says which of the certificates signs.
func (g *Garden) introduceAuthorities(r *AuthorityRotation, now time.Time) error {
	for _, name := range authorities() {
		next, err := g.nextAuthority(name)
		if errors.Is(err, fs.ErrNotExist) {
			next, err = g.makeNextAuthority(name, r.Started, now)
		}
		if err != nil {
			return err
		}
		file := filepath.Join(g.Dir, pkiDir, name+".crt")
		trusted, err := os.ReadFile(file) //nolint:gosec // The path is the operator's own.
		if err != nil {
			return &CorruptError{File: file, Err: withoutPath(err), Remedy: remedyRestore}
		}
		if bytes.Contains(trusted, next.CertPEM) {
			continue
		}
		if err := writeFile(file, append(append(bytes.TrimSpace(trusted), '\n'), next.CertPEM...)); err != nil {
			return err
		}
	}
	if err := g.signWithNext(clientAuthority); err != nil {
		return err
	}

	return g.takeAuthorities(now)
}

// makeNextAuthority makes an authority and keeps it aside. Its name tells it from the current one.
func (g *Garden) makeNextAuthority(name string, started, now time.Time) (KeyPair, error) {
	certPEM, keyPEM, err := newAuthority(authorityNamePrefix+name+"-"+started.UTC().Format("20060102150405"), now)
	if err != nil {
		return KeyPair{}, err
	}
	if err := writeFile(g.nextPath(name), append(certPEM, keyPEM...)); err != nil {
		return KeyPair{}, err
	}

	return g.nextAuthority(name)
}

func (g *Garden) nextPath(name string) string { return filepath.Join(g.Dir, pkiDir, name+nextSuffix) }

// nextAuthority returns the next authority; the error wraps fs.ErrNotExist if there is none.
func (g *Garden) nextAuthority(name string) (KeyPair, error) {
	path := g.nextPath(name)
	data, err := readPrivate(path)
	if errors.Is(err, fs.ErrNotExist) {
		return KeyPair{}, err
	}
	var pair KeyPair
	if err == nil {
		pair, err = parseKeyPair(path, data)
	}
	if err != nil {
		return KeyPair{}, &CorruptError{File: path, Err: withoutPath(err), Remedy: remedyRestore}
	}

	return pair, nil
}

// signWithNext makes the next authority the one that signs.
func (g *Garden) signWithNext(name string) error {
	next, err := g.nextAuthority(name)
	if err != nil {
		return err
	}

	path := filepath.Join(g.Dir, pkiDir, name+".key")
	if is, err := readPrivate(path); err == nil && bytes.Equal(is, next.KeyPEM) {
		return nil
	}

	return writeFile(path, next.KeyPEM)
}

// switchAuthorities makes all next authorities those that sign. Those that are not there have been forgotten as next ones already,
// because they are the current ones.
func (g *Garden) switchAuthorities(now time.Time) error {
	for _, name := range authorities() {
		if err := g.signWithNext(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}

	return g.takeAuthorities(now)
}

// forgetAuthorities trusts only the next authorities, which are no longer the next ones then.
func (g *Garden) forgetAuthorities(now time.Time) error {
	pki := filepath.Join(g.Dir, pkiDir)
	for _, name := range authorities() {
		next, err := g.nextAuthority(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if err := writeFile(filepath.Join(pki, name+".crt"), next.CertPEM); err != nil {
			return err
		}
		if err := os.Remove(g.nextPath(name)); err != nil {
			return fmt.Errorf("complete rotation of authorities: %w", err)
		}
	}
	if err := syncDir(pki); err != nil {
		return err
	}

	return g.takeAuthorities(now)
}

// takeAuthorities reads the authorities again, and issues what another one has signed so far.
func (g *Garden) takeAuthorities(now time.Time) error {
	before := g.ServerCA.Bundle
	if err := g.loadAuthorities(now); err != nil {
		return err
	}
	if err := g.writeClientSigner(); err != nil {
		return err
	}
	if g.changed != nil && !bytes.Equal(before, g.ServerCA.Bundle) {
		close(g.changed)
		g.changed = nil
	}
	_, err := g.issue(now, false)

	return err
}

// loadAuthorities reads and checks the authorities.
func (g *Garden) loadAuthorities(now time.Time) error {
	pki := filepath.Join(g.Dir, pkiDir)
	for _, of := range []struct {
		name string
		into *Authority
	}{{serverAuthority, &g.ServerCA}, {clientAuthority, &g.ClientCA}, {frontProxyAuthority, &g.FrontProxyCA}} {
		a, err := loadAuthority(pki, of.name, now)
		if err != nil {
			return err
		}
		*of.into = a
	}

	return nil
}

// writeClientSigner writes the file for the signer of client certificates if it is not what it should be.
func (g *Garden) writeClientSigner() error {
	keyPEM, err := encodeKey(g.ClientCA.Key)
	if err != nil {
		return err
	}
	want := append(encodeCert(g.ClientCA.Cert.Raw), keyPEM...)
	if is, err := readPrivate(g.ClientSignerFile()); err == nil && bytes.Equal(is, want) {
		return nil
	}

	return writeFile(g.ClientSignerFile(), want)
}

func (g *Garden) writeAuthorityRotation(r *AuthorityRotation) error {
	data, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("encode rotation: %w", err)
	}

	return writeFile(filepath.Join(g.Dir, pkiDir, authorityRotationFile), append(data, '\n'))
}
