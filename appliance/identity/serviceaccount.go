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

// TokenKeys returns the current keys. They do not change; a rotation makes others.
func (g *Garden) TokenKeys() *TokenKeys { return g.tokenKeys.Load() }

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

// StartTokenKeyRotation makes a new key, which signs all tokens from now on. Tokens of the key before are still accepted until
// CompleteTokenKeyRotation. If it is interrupted, it has either been done or changed nothing.
func (g *Garden) StartTokenKeyRotation(now time.Time) error {
	return g.change(now, func(g *Garden) error { return g.startTokenKeyRotation(now) })
}

func (g *Garden) startTokenKeyRotation(now time.Time) error {
	before := g.TokenKeys()
	if before.Rotating() {
		return ErrRotating
	}
	_, keyPEM, err := makeKey()
	if err != nil {
		return err
	}
	pki := filepath.Join(g.Dir, pkiDir)
	if err := writeFormerKey(filepath.Join(pki, formerKeyFile), before.Signing.Public(), now); err != nil {
		return err
	}
	if err := writeFile(filepath.Join(pki, serviceAccountFile), keyPEM); err != nil {
		return err
	}

	return g.readTokenKeys(pki)
}

// CompleteTokenKeyRotation ends the rotation to the key with an id: tokens of the key before are not accepted any more. A rotation that
// has begun since the caller looked is another one.
func (g *Garden) CompleteTokenKeyRotation(id string, now time.Time) error {
	return g.change(now, func(g *Garden) error { return g.completeTokenKeyRotation(id) })
}

func (g *Garden) completeTokenKeyRotation(id string) error {
	if is := g.TokenKeys(); !is.Rotating() || is.ID != id {
		return ErrNotRotating
	}
	pki := filepath.Join(g.Dir, pkiDir)
	if err := os.Remove(filepath.Join(pki, formerKeyFile)); err != nil {
		return fmt.Errorf("remove former key of service account tokens: %w", err)
	}
	if err := syncDir(pki); err != nil {
		return err
	}

	return g.readTokenKeys(pki)
}

func (g *Garden) readTokenKeys(pki string) error {
	keys, err := loadTokenKeys(pki)
	if err != nil {
		return err
	}
	g.tokenKeys.Store(keys)

	return nil
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
