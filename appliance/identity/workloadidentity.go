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
)

const (
	// WorkloadIdentityPath is the path at which a garden publishes how to verify the tokens of its workload identities.
	WorkloadIdentityPath = "/garden/workload-identity/issuer"

	workloadIdentityFile = "workload-identity.key"
	// workloadIdentityLayout is the first layout with this key. In older data directories the key is created; in newer ones a missing
	// key is an error.
	workloadIdentityLayout = 2
	workloadIdentityBits   = 2048
	workloadIdentityAlg    = "RS256"
)

// WorkloadIdentityKey signs the tokens of workload identities. External systems trust its public part.
type WorkloadIdentityKey struct {
	// File contains the private key.
	File string
	// ID is the id of the key in tokens and in the key set.
	ID string

	key *rsa.PrivateKey
}

// Sign returns a JSON Web Token with the claims.
func (k WorkloadIdentityKey) Sign(claims any) (string, error) {
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

// KeySet returns the public part as a JSON Web Key Set.
func (k WorkloadIdentityKey) KeySet() ([]byte, error) {
	set := map[string][]map[string]string{"keys": {{
		"kty": "RSA", "use": "sig", "alg": workloadIdentityAlg, "kid": k.ID,
		"n": base64.RawURLEncoding.EncodeToString(k.key.N.Bytes()),
		"e": base64.RawURLEncoding.EncodeToString(big.NewInt(int64(k.key.E)).Bytes()),
	}}}
	data, err := json.Marshal(set)
	if err != nil {
		return nil, fmt.Errorf("encode key set: %w", err)
	}
	return data, nil
}

// Discovery returns the OpenID Connect discovery document of an issuer.
func (WorkloadIdentityKey) Discovery(issuer string) ([]byte, error) {
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

// loadWorkloadIdentityKey reads the key, or creates it in a data directory with an older layout.
func loadWorkloadIdentityKey(dir string, layout int) (WorkloadIdentityKey, error) {
	k := WorkloadIdentityKey{File: filepath.Join(dir, workloadIdentityFile)}
	if _, err := os.Stat(k.File); errors.Is(err, fs.ErrNotExist) && layout < workloadIdentityLayout {
		if err := makeWorkloadIdentityKey(dir); err != nil {
			return k, err
		}
	}
	data, err := readPrivate(k.File)
	if err != nil {
		return k, &CorruptError{File: k.File, Err: withoutPath(err), Remedy: remedyRestore}
	}
	signer, err := parseKey(data)
	if err != nil {
		return k, &CorruptError{File: k.File, Err: err, Remedy: remedyRestore}
	}
	key, ok := signer.(*rsa.PrivateKey)
	if !ok {
		return k, &CorruptError{File: k.File, Err: fmt.Errorf("its private key is %T, not RSA", signer), Remedy: remedyRestore}
	}
	k.key = key
	k.ID, err = keyID(key.Public())
	return k, err
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
