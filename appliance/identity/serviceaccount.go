// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"crypto"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"
)

const (
	// formerKeyFile has the public part of the key that signed before: while a rotation goes on, its tokens are still accepted.
	formerKeyFile  = "service-account-former.pub"
	formerKeyBlock = "PUBLIC KEY"
	// formerSince is the header with the time at which the key ceased to sign.
	formerSince = "Since"
)

var (
	// ErrRotating says that a rotation has to be completed before the next one.
	ErrRotating = errors.New("a rotation has begun and is not complete")
	// ErrNotRotating says that there is no rotation to complete.
	ErrNotRotating = errors.New("no rotation has begun")
)

// TokenKeys are the keys for tokens of service accounts at a time.
type TokenKeys struct {
	// Signing signs new tokens. ID is its id in tokens.
	Signing crypto.Signer
	ID      string
	// Accepted are the keys whose tokens are accepted: that of Signing, and while a rotation goes on the one before.
	Accepted []crypto.PublicKey
	// Since is when Signing replaced the other accepted key; zero if no rotation goes on.
	Since time.Time
}

// Rotating reports whether a rotation has begun and is not complete.
func (k *TokenKeys) Rotating() bool { return len(k.Accepted) > 1 }

// ServiceAccountKeyring has the keys for tokens of service accounts of a garden.
type ServiceAccountKeyring struct {
	// File contains the key that signs; see Keys.
	File string

	// pki is the directory of keys, current are the keys that were read from it.
	pki     string
	current atomic.Pointer[TokenKeys]
}

func newServiceAccountKeyring(pki string) *ServiceAccountKeyring {
	return &ServiceAccountKeyring{File: filepath.Join(pki, serviceAccountFile), pki: pki}
}

// Keys returns the current keys. They do not change; a rotation makes others.
func (r *ServiceAccountKeyring) Keys() *TokenKeys { return r.current.Load() }

// read makes the keys in the directory the current ones.
func (r *ServiceAccountKeyring) read() error {
	keys, err := loadTokenKeys(r.pki)
	if err != nil {
		return err
	}
	r.current.Store(keys)

	return nil
}

// startRotation makes a new key, and keeps the public part of the one before. If it is interrupted, it has either been done or changed
// nothing.
func (r *ServiceAccountKeyring) startRotation(now time.Time) error {
	before := r.Keys()
	if before.Rotating() {
		return ErrRotating
	}
	_, keyPEM, err := makeKey()
	if err != nil {
		return err
	}
	if err := writeFormerKey(filepath.Join(r.pki, formerKeyFile), before.Signing.Public(), now); err != nil {
		return err
	}
	if err := writeFile(r.File, keyPEM); err != nil {
		return err
	}

	return r.read()
}

// completeRotation forgets the former key if a rotation to the key with an id goes on.
func (r *ServiceAccountKeyring) completeRotation(id string) error {
	if is := r.Keys(); !is.Rotating() || is.ID != id {
		return ErrNotRotating
	}
	if err := os.Remove(filepath.Join(r.pki, formerKeyFile)); err != nil {
		return fmt.Errorf("remove former key of service account tokens: %w", err)
	}
	if err := syncDir(r.pki); err != nil {
		return err
	}

	return r.read()
}

// loadTokenKeys reads the keys.
func loadTokenKeys(pki string) (*TokenKeys, error) {
	path := filepath.Join(pki, serviceAccountFile)
	keyPEM, err := readPrivate(path)
	if err != nil {
		return nil, &CorruptError{File: path, Err: withoutPath(err), Remedy: remedyRestore}
	}
	k := &TokenKeys{}
	if k.Signing, err = parseKey(keyPEM); err != nil {
		return nil, &CorruptError{File: path, Err: err, Remedy: remedyRestore}
	}
	if k.ID, err = keyID(k.Signing.Public()); err != nil {
		return nil, err
	}
	k.Accepted = []crypto.PublicKey{k.Signing.Public()}
	former, since, err := readFormerKey(filepath.Join(pki, formerKeyFile))
	if errors.Is(err, fs.ErrNotExist) {
		return k, nil
	}
	if err != nil {
		return nil, &CorruptError{File: filepath.Join(pki, formerKeyFile), Err: withoutPath(err), Remedy: remedyRestore}
	}
	// A rotation that was interrupted before its second step has changed nothing.
	if !k.Signing.Public().(interface{ Equal(x crypto.PublicKey) bool }).Equal(former) { //nolint:forcetypeassert // All keys have it.
		k.Accepted, k.Since = append(k.Accepted, former), since
	}

	return k, nil
}

// writeFormerKey writes the public part of a key that ceases to sign now.
func writeFormerKey(path string, key crypto.PublicKey, now time.Time) error {
	public, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		return fmt.Errorf("encode public key: %w", err)
	}

	return writeFile(path, pem.EncodeToMemory(&pem.Block{
		Type: formerKeyBlock, Headers: map[string]string{formerSince: now.UTC().Format(time.RFC3339)}, Bytes: public,
	}))
}

// readFormerKey returns what writeFormerKey has written.
func readFormerKey(path string) (crypto.PublicKey, time.Time, error) {
	data, err := os.ReadFile(path) //nolint:gosec // The path is the operator's own.
	if err != nil {
		return nil, time.Time{}, err
	}
	block, _ := pem.Decode(data)
	if block == nil || block.Type != formerKeyBlock {
		return nil, time.Time{}, errors.New("it does not contain a public key")
	}
	key, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return nil, time.Time{}, errors.New("it does not contain a public key")
	}
	since, err := time.Parse(time.RFC3339, block.Headers[formerSince])
	if err != nil {
		return nil, time.Time{}, fmt.Errorf("its header %q is not a time", formerSince)
	}

	return key, since, nil
}

// inspectServiceAccountKeys describes the keys for tokens of service accounts.
func inspectServiceAccountKeys(pki string) ([]Item, error) {
	return inspectSigningKeys(pki, serviceAccountFile, formerKeyFile)
}

// inspectSigningKeys describes the key that signs tokens, and the one before while a rotation goes on.
func inspectSigningKeys(pki, file, formerFile string) ([]Item, error) {
	items := []Item{{Name: leafName(file), Kind: KindKey, State: StateOK}}
	key, err := readKey(filepath.Join(pki, file))
	if err != nil {
		return items, err
	}
	if items[0].Subject, err = keyID(key.Public()); err != nil {
		return items, err
	}
	former, since, err := readFormerKey(filepath.Join(pki, formerFile))
	if errors.Is(err, fs.ErrNotExist) {
		return items, nil
	}
	if err != nil {
		return append([]Item{{Name: leafName(formerFile), Kind: KindKey}}, items...), err
	}
	id, err := keyID(former)
	if id != items[0].Subject {
		items = append(items, Item{
			Name: leafName(formerFile), Kind: KindKey, Subject: id, State: StateRotating,
			Message: "accepted but not used for new tokens since " + since.Format(time.DateOnly),
		})
	}

	return items, err
}
