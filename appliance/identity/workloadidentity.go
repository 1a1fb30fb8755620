// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"
)

const (
	// WorkloadIdentityPath is the path at which a garden publishes how to verify the tokens of its workload identities.
	WorkloadIdentityPath = "/garden/workload-identity/issuer"

	workloadIdentityFile = "workload-identity.key"
	// formerWorkloadFile has the public part of the key that signed before: while a rotation goes on, its tokens are still verified.
	formerWorkloadFile = "workload-identity-former.pub"
	// workloadIdentityLayout is the first layout with this key. In older data directories the key is created; in newer ones a missing
	// key is an error.
	workloadIdentityLayout = 2
	workloadIdentityBits   = 2048
	workloadIdentityAlg    = "RS256"
)

// WorkloadIdentityKeys are the keys for tokens of workload identities at a time. External systems trust their public parts.
type WorkloadIdentityKeys struct {
	// ID is the id of the key that signs, in tokens and in the key set.
	ID string
	// KeySet is the JSON Web Key Set with which tokens are verified: it has the public part of the key that signs, and while a rotation
	// goes on that of the one before.
	KeySet []byte
	// Since is when the key that signs replaced the one before; zero if no rotation goes on.
	Since time.Time

	key *rsa.PrivateKey
}

// Rotating reports whether a rotation has begun and is not complete.
func (k *WorkloadIdentityKeys) Rotating() bool { return !k.Since.IsZero() }

// WorkloadIdentityKeyring has the keys for tokens of workload identities of a garden.
type WorkloadIdentityKeyring struct {
	// pki is the directory of keys, current are the keys that were read from it.
	pki     string
	current atomic.Pointer[WorkloadIdentityKeys]
}

func newWorkloadIdentityKeyring(pki string) *WorkloadIdentityKeyring {
	return &WorkloadIdentityKeyring{pki: pki}
}

// Keys returns the current keys. They do not change; a rotation makes others.
func (r *WorkloadIdentityKeyring) Keys() *WorkloadIdentityKeys { return r.current.Load() }

// Sign returns a JSON Web Token with the claims, signed by the current key.
func (r *WorkloadIdentityKeyring) Sign(claims any) (string, error) { return r.Keys().sign(claims) }

// read makes the keys in the directory the current ones. It creates one in a data directory with an older layout.
func (r *WorkloadIdentityKeyring) read(layout int) error {
	keys, err := loadWorkloadIdentityKeys(r.pki, layout)
	if err != nil {
		return err
	}
	r.current.Store(keys)

	return nil
}

// startRotation makes a new key, and keeps the public part of the one before. If it is interrupted, it has either been done or changed
// nothing.
func (r *WorkloadIdentityKeyring) startRotation(now time.Time) error {
	before := r.Keys()
	if before.Rotating() {
		return ErrRotating
	}
	if err := writeFormerKey(filepath.Join(r.pki, formerWorkloadFile), before.key.Public(), now); err != nil {
		return err
	}
	if err := makeWorkloadIdentityKey(r.pki); err != nil {
		return err
	}

	return r.read(Layout)
}

// completeRotation forgets the former key if a rotation to the key with an id goes on.
func (r *WorkloadIdentityKeyring) completeRotation(id string) error {
	if is := r.Keys(); !is.Rotating() || is.ID != id {
		return ErrNotRotating
	}
	if err := os.Remove(filepath.Join(r.pki, formerWorkloadFile)); err != nil {
		return fmt.Errorf("remove former key of workload identities: %w", err)
	}
	if err := syncDir(r.pki); err != nil {
		return err
	}

	return r.read(Layout)
}

func (k *WorkloadIdentityKeys) sign(claims any) (string, error) {
	head, err := segment(map[string]string{"alg": workloadIdentityAlg, "typ": "JWT", "kid": k.ID})
	if err != nil {
		return "", fmt.Errorf("sign token: %w", err)
	}
	body, err := segment(claims)
	if err != nil {
		return "", fmt.Errorf("sign token: %w", err)
	}
	sum := sha256.Sum256([]byte(head + "." + body))
	signature, err := rsa.SignPKCS1v15(rand.Reader, k.key, crypto.SHA256, sum[:])
	if err != nil {
		return "", fmt.Errorf("sign token: %w", err)
	}
	return head + "." + body + "." + base64.RawURLEncoding.EncodeToString(signature), nil
}

// keySet returns public keys as a JSON Web Key Set, the first one first.
func keySet(keys ...*rsa.PublicKey) ([]byte, error) {
	set := make([]map[string]string, 0, len(keys))
	for _, key := range keys {
		id, err := keyID(key)
		if err != nil {
			return nil, err
		}
		set = append(set, map[string]string{
			"kty": "RSA", "use": "sig", "alg": workloadIdentityAlg, "kid": id,
			"n": base64.RawURLEncoding.EncodeToString(key.N.Bytes()),
			"e": base64.RawURLEncoding.EncodeToString(big.NewInt(int64(key.E)).Bytes()),
		})
	}
	data, err := json.Marshal(map[string]any{"keys": set})
	if err != nil {
		return nil, fmt.Errorf("encode key set: %w", err)
	}
	return data, nil
}

// WorkloadIdentityDiscovery returns the OpenID Connect discovery document of an issuer.
func WorkloadIdentityDiscovery(issuer string) ([]byte, error) {
	data, err := json.Marshal(map[string]any{
		"issuer": issuer, "jwks_uri": issuer + "/jwks", "response_types_supported": []string{"id_token"},
		"subject_types_supported": []string{"public"}, "id_token_signing_alg_values_supported": []string{workloadIdentityAlg},
	})
	if err != nil {
		return nil, fmt.Errorf("encode discovery document: %w", err)
	}
	return data, nil
}

func segment(content any) (string, error) {
	data, err := json.Marshal(content)
	if err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(data), nil
}

func makeWorkloadIdentityKey(dir string) error {
	key, err := rsa.GenerateKey(rand.Reader, workloadIdentityBits)
	if err != nil {
		return fmt.Errorf("make key: %w", err)
	}
	data, err := encodeKey(key)
	if err != nil {
		return err
	}
	return writeFile(filepath.Join(dir, workloadIdentityFile), data)
}

// loadWorkloadIdentityKeys reads the keys, or creates one in a data directory with an older layout.
func loadWorkloadIdentityKeys(pki string, layout int) (*WorkloadIdentityKeys, error) {
	path := filepath.Join(pki, workloadIdentityFile)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) && layout < workloadIdentityLayout {
		if err := makeWorkloadIdentityKey(pki); err != nil {
			return nil, err
		}
	}
	data, err := readPrivate(path)
	if err != nil {
		return nil, &CorruptError{File: path, Err: withoutPath(err), Remedy: remedyRestore}
	}
	signer, err := parseKey(data)
	if err != nil {
		return nil, &CorruptError{File: path, Err: err, Remedy: remedyRestore}
	}
	k := &WorkloadIdentityKeys{}
	var ok bool
	if k.key, ok = signer.(*rsa.PrivateKey); !ok {
		return nil, &CorruptError{File: path, Err: fmt.Errorf("its private key is %T, not RSA", signer), Remedy: remedyRestore}
	}
	if k.ID, err = keyID(k.key.Public()); err != nil {
		return nil, err
	}
	verified := []*rsa.PublicKey{&k.key.PublicKey}
	former, since, err := readFormerWorkloadKey(pki)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, &CorruptError{File: filepath.Join(pki, formerWorkloadFile), Err: withoutPath(err), Remedy: remedyRestore}
	case !former.Equal(k.key.Public()):
		// Otherwise a rotation was interrupted before its second step, and has changed nothing.
		verified, k.Since = append(verified, former), since
	}
	k.KeySet, err = keySet(verified...)

	return k, err
}

func readFormerWorkloadKey(pki string) (*rsa.PublicKey, time.Time, error) {
	former, since, err := readFormerKey(filepath.Join(pki, formerWorkloadFile))
	if err != nil {
		return nil, time.Time{}, err
	}
	key, ok := former.(*rsa.PublicKey)
	if !ok {
		return nil, time.Time{}, fmt.Errorf("its public key is %T, not RSA", former)
	}

	return key, since, nil
}

// inspectWorkloadIdentityKeys describes the keys for tokens of workload identities.
func inspectWorkloadIdentityKeys(pki string) ([]Item, error) {
	return inspectSigningKeys(pki, workloadIdentityFile, formerWorkloadFile)
}

// keyID returns the id of a key in tokens, which does not tell the key.
func keyID(key crypto.PublicKey) (string, error) {
	public, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		return "", fmt.Errorf("encode public key: %w", err)
	}
	sum := sha256.Sum256(public)
	return base64.RawURLEncoding.EncodeToString(sum[:]), nil
}
