// SPDX-License-Identifier: Apache-2.0

package secrets

import (
	"context"
	"crypto/rand"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"time"

	"golang.org/x/crypto/ssh"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/util/keyutil"
)

const (
	// DataKeyRSA holds an RSA key in PEM.
	DataKeyRSA = "id_rsa"
	// DataKeyRSABundle holds the public halves of the keys that are trusted, in PEM.
	DataKeyRSABundle = "bundle.key"
	// DataKeyRSAPublic holds the public half of an SSH key, as in a file of authorized keys.
	DataKeyRSAPublic = DataKeyRSA + ".pub"
	// dataKeyEncryptionKey and dataKeyEncryptionSecret hold the name and the bytes of a key for encryption at rest.
	dataKeyEncryptionKey    = "key"
	dataKeyEncryptionSecret = "secret"

	// DataKeyToken holds a text that nobody guesses.
	DataKeyToken = "token"

	rsaBits          = 2048
	sshBits          = 3072
	encryptionLength = 32
	tokenLength      = 32
)

// RSAKey is a key pair without a certificate. The key signs, the bundle verifies.
type RSAKey struct {
	// SecretName is the name of the Secret with id_rsa.
	SecretName string
	// Key is in PEM.
	Key []byte
	// Bundle holds public keys only.
	Bundle Bundle
}

// RSAKey returns the key of that name, which signs tokens of service accounts.
func (m *Manager) RSAKey(ctx context.Context, name string) (*RSAKey, error) {
	found, err := m.obtainRotated(ctx, wish{
		name: name, config: map[string]int{"bits": rsaBits}, adopt: adoptRSA,
		generate: func(time.Time) (map[string][]byte, time.Time, error) {
			key, err := newRSA(rsaBits)
			if err != nil {
				return nil, time.Time{}, err
			}
			private, err := encodeKey(key)
			return map[string][]byte{DataKeyRSA: private}, time.Time{}, err
		},
	}, m.config.Rotations.ServiceAccountKey)
	if err != nil {
		return nil, err
	}
	var public [][]byte
	for _, secret := range []*corev1.Secret{found.current, found.old} {
		if secret == nil {
			continue
		}
		half, err := publicHalf(secret.Data[DataKeyRSA])
		if err != nil {
			return nil, fmt.Errorf("secret %q: %w", secret.Name, err)
		}
		public = append(public, half)
	}
	bundle, err := m.bundle(ctx, name, DataKeyRSABundle, public...)
	return &RSAKey{SecretName: found.current.Name, Key: found.current.Data[DataKeyRSA], Bundle: bundle}, err
}

// publicHalf reads a private key in PEM and writes its public half.
func publicHalf(private []byte) ([]byte, error) {
	keys, err := keyutil.ParsePublicKeysPEM(private)
	if err != nil {
		return nil, fmt.Errorf("parse its key: %w", err)
	}
	der, err := x509.MarshalPKIXPublicKey(keys[0])
	if err != nil {
		return nil, fmt.Errorf("encode its public key: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: keyutil.PublicKeyBlockType, Bytes: der}), nil
}

// SSHKey is a key pair for logging in to machines.
type SSHKey struct {
	// SecretName is the name of the Secret with id_rsa and id_rsa.pub.
	SecretName string
	// Private is in PEM, Public as in a file of authorized keys.
	Private, Public []byte
	// Old is the key before, which machines accept until the next rotation; nil if there is none.
	Old *SSHKey
}

// SSHKey returns the key pair of that name.
func (m *Manager) SSHKey(ctx context.Context, name string) (*SSHKey, error) {
	found, err := m.obtainRotated(ctx, wish{
		name: name, config: map[string]any{"bits": sshBits, "public": "openssh"}, adopt: adoptSSH,
		generate: func(time.Time) (map[string][]byte, time.Time, error) {
			key, err := newRSA(sshBits)
			if err != nil {
				return nil, time.Time{}, err
			}
			public, err := ssh.NewPublicKey(key.Public())
			if err != nil {
				return nil, time.Time{}, fmt.Errorf("encode a key: %w", err)
			}
			private, err := encodeKey(key)
			return map[string][]byte{DataKeyRSA: private, DataKeyRSAPublic: ssh.MarshalAuthorizedKey(public)}, time.Time{}, err
		},
	}, m.config.Rotations.SSHKey)
	if err != nil {
		return nil, err
	}
	key := sshKeyOf(found.current)
	if found.old != nil {
		key.Old = sshKeyOf(found.old)
	}
	return key, nil
}

func sshKeyOf(secret *corev1.Secret) *SSHKey {
	return &SSHKey{SecretName: secret.Name, Private: secret.Data[DataKeyRSA], Public: secret.Data[DataKeyRSAPublic]}
}

// EncryptionKey encrypts objects at rest.
type EncryptionKey struct {
	// SecretName is the name of the Secret that keeps the key.
	SecretName string
	// Name identifies the key. It is stored with everything that the key encrypts.
	Name string
	// Secret are its 32 bytes.
	Secret []byte
	// Old is the key before, which is needed to read until everything is encrypted with the new key; nil if there is none.
	Old *EncryptionKey
}

// EncryptionKey returns the key of that name.
func (m *Manager) EncryptionKey(ctx context.Context, name string) (*EncryptionKey, error) {
	found, err := m.obtainRotated(ctx, wish{
		name: name, config: map[string]int{"length": encryptionLength}, adopt: adoptEncryptionKey,
		generate: func(now time.Time) (map[string][]byte, time.Time, error) {
			secret := make([]byte, encryptionLength)
			_, _ = rand.Read(secret) // never fails
			return map[string][]byte{
				dataKeyEncryptionKey:    fmt.Appendf(nil, "key%d", now.Unix()),
				dataKeyEncryptionSecret: secret,
			}, time.Time{}, nil
		},
	}, m.config.Rotations.EncryptionKey)
	if err != nil {
		return nil, err
	}
	key := encryptionKeyOf(found.current)
	if found.old != nil {
		key.Old = encryptionKeyOf(found.old)
	}
	return key, nil
}

func encryptionKeyOf(secret *corev1.Secret) *EncryptionKey {
	return &EncryptionKey{
		SecretName: secret.Name,
		Name:       string(secret.Data[dataKeyEncryptionKey]),
		Secret:     secret.Data[dataKeyEncryptionSecret],
	}
}

// Token returns a text of that name that nobody guesses: letters and digits. It stays the same for as long as it is asked for.
func (m *Manager) Token(ctx context.Context, name string) (string, error) {
	secret, err := m.obtain(ctx, wish{
		name: name, config: map[string]int{"length": tokenLength},
		generate: func(time.Time) (map[string][]byte, time.Time, error) {
			random := make([]byte, tokenLength)
			_, _ = rand.Read(random) // never fails
			return map[string][]byte{DataKeyToken: hex.AppendEncode(nil, random)}, time.Time{}, nil
		},
	})
	if err != nil {
		return "", err
	}
	return string(secret.Data[DataKeyToken]), nil
}
