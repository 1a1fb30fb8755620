// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
)

// seal encrypts what a browser keeps for the server and may neither read nor change. Nobody can fill the memory of the server with sign-ins that never
// end, because only browsers have them. The key is that of this process.
type seal struct{ aead cipher.AEAD }

func newSeal() seal {
	key := make([]byte, 32)
	rand.Read(key)
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err) // The key has the right size.
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic(err) // The block has the right size.
	}

	return seal{aead}
}

// close returns a value for a cookie of that name.
func (s seal) close(name string, value any) (string, error) {
	data, err := json.Marshal(value)
	if err != nil {
		return "", fmt.Errorf("encode %T: %w", value, err)
	}

	return base64.RawURLEncoding.EncodeToString(s.aead.Seal(nil, nil, data, []byte(name))), nil //nolint:gosec // It makes a nonce of its own.
}

// open reads the value of a cookie of that name.
func (s seal) open(name, sealed string, into any) error {
	data, err := base64.RawURLEncoding.DecodeString(sealed)
	if err != nil {
		return fmt.Errorf("decode cookie %q: %w", name, err)
	}
	plain, err := s.aead.Open(nil, nil, data, []byte(name))
	if err != nil {
		return fmt.Errorf("decrypt cookie %q: %w", name, err)
	}
	if err := json.Unmarshal(plain, into); err != nil {
		return fmt.Errorf("decode cookie %q: %w", name, err)
	}

	return nil
}
