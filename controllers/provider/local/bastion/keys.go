// SPDX-License-Identifier: Apache-2.0

package bastion

import (
	"crypto/ed25519"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/crypto/ssh"
)

// Keys returns the public keys in the user data: the lines that are those of an authorized_keys file, without options and comments.
func Keys(userData []byte) ([]string, error) {
	var keys []string
	for line := range strings.Lines(string(userData)) {
		key, _, options, _, err := ssh.ParseAuthorizedKey([]byte(line))
		if err != nil {
			continue
		}
		if len(options) > 0 {
			return nil, fmt.Errorf("spec.userData: the host cannot keep to the options of a key (%s)", strings.Join(options, ","))
		}
		keys = append(keys, authorized(key))
	}
	if len(keys) == 0 {
		return nil, errors.New("spec.userData: no line of the script is the public key of a user")
	}
	return keys, nil
}

func authorized(key ssh.PublicKey) string {
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key)))
}

// newHostKey makes the private key of a host, in PEM.
func newHostKey(random io.Reader) ([]byte, error) {
	_, private, err := ed25519.GenerateKey(random)
	if err != nil {
		return nil, fmt.Errorf("make the key of the host: %w", err)
	}
	block, err := ssh.MarshalPrivateKey(private, "")
	if err != nil {
		return nil, fmt.Errorf("encode the key of the host: %w", err)
	}
	return pem.EncodeToMemory(block), nil
}

// publicKey is the public part of the key of a host.
func publicKey(private []byte) (string, error) {
	signer, err := ssh.ParsePrivateKey(private)
	if err != nil {
		return "", fmt.Errorf("read the key of the host: %w", err)
	}
	return authorized(signer.PublicKey()), nil
}
