// SPDX-License-Identifier: Apache-2.0

package secrets

import (
	"context"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"time"

	"golang.org/x/crypto/ssh"
)

const (
	// DataKeyRSA holds an RSA key in PEM.
	DataKeyRSA = "id_rsa"
	// DataKeyRSAPublic holds the public half of an SSH key, as in a file of authorized keys.
	DataKeyRSAPublic = DataKeyRSA + ".pub"
	// dataKeyEncryptionKey and dataKeyEncryptionSecret hold the name and the bytes of a key for encryption at rest.
	dataKeyEncryptionKey    = "key"
	dataKeyEncryptionSecret = "secret"

	rsaBits          = 2048
	sshBits          = 3072
	encryptionLength = 32
)

// RSAKey is a key pair without a certificate.
type RSAKey struct {
	// SecretName is the name of the Secret with id_rsa.
	SecretName string
	// Key is in PEM.
	Key []byte
}

// RSAKey returns the key of that name.
func (m *Manager) RSAKey(ctx context.Context, name string) (*RSAKey, error) {
	secret, err := m.obtain(ctx, wish{
		name: name, config: map[string]int{"bits": rsaBits}, persist: true,
		generate: func(time.Time) (map[string][]byte, time.Time, error) {
			key, err := rsa.GenerateKey(m.config.Random, rsaBits)
			if err != nil {
				return nil, time.Time{}, fmt.Errorf("generate a key: %w", err)
			}
			block := &pem.Block{Type: pemRSA, Bytes: x509.MarshalPKCS1PrivateKey(key)}
			return map[string][]byte{DataKeyRSA: pem.EncodeToMemory(block)}, time.Time{}, nil
		},
	})
	if err != nil {
		return nil, err
	}
	return &RSAKey{SecretName: secret.Name, Key: secret.Data[DataKeyRSA]}, nil
}

// SSHKey is a key pair for logging in to machines.
type SSHKey struct {
	// SecretName is the name of the Secret with id_rsa and id_rsa.pub.
	SecretName string
	// Private is in PEM, Public as in a file of authorized keys.
	Private, Public []byte
}

// SSHKey returns the key pair of that name.
func (m *Manager) SSHKey(ctx context.Context, name string) (*SSHKey, error) {
	secret, err := m.obtain(ctx, wish{
		name: name, config: map[string]any{"bits": sshBits, "public": "openssh"}, persist: true,
		generate: func(time.Time) (map[string][]byte, time.Time, error) {
			key, err := rsa.GenerateKey(m.config.Random, sshBits)
			if err != nil {
				return nil, time.Time{}, fmt.Errorf("generate a key: %w", err)
			}
			public, err := ssh.NewPublicKey(key.Public())
			if err != nil {
				return nil, time.Time{}, fmt.Errorf("encode a key: %w", err)
			}
			block := &pem.Block{Type: pemRSA, Bytes: x509.MarshalPKCS1PrivateKey(key)}
			return map[string][]byte{
				DataKeyRSA: pem.EncodeToMemory(block), DataKeyRSAPublic: ssh.MarshalAuthorizedKey(public),
			}, time.Time{}, nil
		},
	})
	if err != nil {
		return nil, err
	}
	return &SSHKey{SecretName: secret.Name, Private: secret.Data[DataKeyRSA], Public: secret.Data[DataKeyRSAPublic]}, nil
}

// EncryptionKey encrypts objects at rest.
type EncryptionKey struct {
	// SecretName is the name of the Secret that keeps the key.
	SecretName string
	// Name tells the key from its predecessors; it is written beside everything that it encrypts.
	Name string
	// Secret are its 32 bytes.
	Secret []byte
}

// EncryptionKey returns the key of that name.
func (m *Manager) EncryptionKey(ctx context.Context, name string) (*EncryptionKey, error) {
	secret, err := m.obtain(ctx, wish{
		name: name, config: map[string]int{"length": encryptionLength}, persist: true,
		generate: func(now time.Time) (map[string][]byte, time.Time, error) {
			secret := make([]byte, encryptionLength)
			if _, err := io.ReadFull(m.config.Random, secret); err != nil {
				return nil, time.Time{}, fmt.Errorf("draw a key: %w", err)
			}
			return map[string][]byte{
				dataKeyEncryptionKey:    fmt.Appendf(nil, "key%d", now.Unix()),
				dataKeyEncryptionSecret: secret,
			}, time.Time{}, nil
		},
	})
	if err != nil {
		return nil, err
	}
	return &EncryptionKey{
		SecretName: secret.Name,
		Name:       string(secret.Data[dataKeyEncryptionKey]),
		Secret:     secret.Data[dataKeyEncryptionSecret],
	}, nil
}
