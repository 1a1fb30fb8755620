// SPDX-License-Identifier: Apache-2.0

// Package tokenkeys signs and verifies the tokens of service accounts with keys that can change while the server runs.
package tokenkeys

import (
	"context"
	"fmt"
	"sync"

	"gopkg.in/go-jose/go-jose.v2/jwt"
	"k8s.io/kubernetes/pkg/serviceaccount"

	"github.com/terrarium-garden/terrarium/appliance/identity"
)

// Source gives the current keys. What it returns does not change; when the keys change, it returns another value.
type Source func() *identity.TokenKeys

// signer signs tokens of an issuer with the current key.
type signer struct {
	issuer string
	keys   Source
}

// NewSigner returns a generator of the tokens of an issuer.
func NewSigner(issuer string, keys Source) serviceaccount.TokenGenerator {
	return signer{issuer: issuer, keys: keys}
}

// GenerateToken implements serviceaccount.TokenGenerator.
func (s signer) GenerateToken(ctx context.Context, claims *jwt.Claims, private any) (string, error) {
	generator, err := serviceaccount.JWTTokenGenerator(s.issuer, s.keys().Signing)
	if err != nil {
		return "", fmt.Errorf("make generator of service account tokens: %w", err)
	}

	return generator.GenerateToken(ctx, claims, private) //nolint:wrapcheck // The caller is the library.
}

// Verifier gives the library the keys whose tokens are accepted.
type Verifier struct {
	keys Source

	mu        sync.Mutex
	from      *identity.TokenKeys
	current   serviceaccount.PublicKeysGetter
	listeners []serviceaccount.Listener
}

var _ serviceaccount.PublicKeysGetter = &Verifier{}

// NewVerifier returns a Verifier. It returns an error if the current keys cannot be used.
func NewVerifier(keys Source) (*Verifier, error) {
	v := &Verifier{keys: keys}
	if _, err := v.get(); err != nil {
		return nil, err
	}

	return v, nil
}

// get returns a getter of the current keys.
func (v *Verifier) get() (serviceaccount.PublicKeysGetter, error) {
	now := v.keys()
	v.mu.Lock()
	defer v.mu.Unlock()
	if now == v.from {
		return v.current, nil
	}
	all := make([]any, 0, len(now.Accepted))
	for _, key := range now.Accepted {
		all = append(all, key)
	}
	getter, err := serviceaccount.StaticPublicKeysGetter(all)
	if err != nil {
		return nil, fmt.Errorf("read keys of service account tokens: %w", err)
	}
	v.from, v.current = now, getter

	return getter, nil
}

// Changed tells those who publish the keys that they have changed.
func (v *Verifier) Changed() {
	v.mu.Lock()
	listeners := append([]serviceaccount.Listener(nil), v.listeners...)
	v.mu.Unlock()
	for _, l := range listeners {
		l.Enqueue()
	}
}

// AddListener implements serviceaccount.PublicKeysGetter.
func (v *Verifier) AddListener(l serviceaccount.Listener) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.listeners = append(v.listeners, l)
}

// GetCacheAgeMaxSeconds implements serviceaccount.PublicKeysGetter. A new key signs at once, so verifiers elsewhere may cache the
// keys for a short time only.
func (*Verifier) GetCacheAgeMaxSeconds() int { return 60 }

// GetPublicKeys implements serviceaccount.PublicKeysGetter.
func (v *Verifier) GetPublicKeys(ctx context.Context, id string) []serviceaccount.PublicKey {
	getter, err := v.get()
	if err != nil {
		return nil // No token is accepted.
	}

	return getter.GetPublicKeys(ctx, id)
}
