// SPDX-License-Identifier: Apache-2.0

package component

import (
	"context"
	"fmt"

	"github.com/terrarium-garden/terrarium/controllers/secrets"
)

// Request asks for something that is generated once and kept. The answer has the same name.
type Request struct {
	// Name is the logical name.
	Name string

	obtain func(ctx context.Context, manager *secrets.Manager) (Secret, error)
}

// Secret is the answer to a Request.
type Secret struct {
	// Name is the name of the Secret with the private part, to sign or to authenticate with.
	Name string
	// Bundle is the name of the Secret with the public part of an authority or a key, to verify with.
	Bundle string
	// Trusted are the certificates of the bundle of an authority, Certificate and Key what a certificate consists of, in PEM. They are
	// for components inside of shoots, where the Secrets of the seed are not.
	Trusted, Certificate, Key []byte
	// Keys are encryption keys, which become part of a configuration. The first one is in use, the others are needed to read.
	Keys []secrets.EncryptionKey
	// Token is a text that nobody guesses.
	Token string
}

// Authority asks for a certificate authority, to sign with it or to verify what it has signed.
func Authority(name string) Request {
	return Request{Name: name, obtain: func(ctx context.Context, manager *secrets.Manager) (Secret, error) {
		ca, err := manager.CA(ctx, name)
		if err != nil {
			return Secret{}, err
		}
		return Secret{Name: ca.Current.SecretName, Bundle: ca.Bundle.SecretName, Trusted: ca.Bundle.PEM}, nil
	}}
}

// Certificate asks for a certificate that the authority of that name signs. The CA of the specification stays empty.
func Certificate(authority string, spec secrets.CertificateSpec) Request {
	return Request{Name: spec.Name, obtain: func(ctx context.Context, manager *secrets.Manager) (Secret, error) {
		ca, err := manager.CA(ctx, authority)
		if err != nil {
			return Secret{}, err
		}
		spec.CA = ca
		certificate, err := manager.Certificate(ctx, spec)
		if err != nil {
			return Secret{}, err
		}
		return Secret{Name: certificate.SecretName, Certificate: certificate.Certificate, Key: certificate.Key}, nil
	}}
}

// RSAKey asks for a key pair without a certificate.
func RSAKey(name string) Request {
	return Request{Name: name, obtain: func(ctx context.Context, manager *secrets.Manager) (Secret, error) {
		key, err := manager.RSAKey(ctx, name)
		if err != nil {
			return Secret{}, err
		}
		return Secret{Name: key.SecretName, Bundle: key.Bundle.SecretName}, nil
	}}
}

// EncryptionKey asks for a key for encryption at rest.
func EncryptionKey(name string) Request {
	return Request{Name: name, obtain: func(ctx context.Context, manager *secrets.Manager) (Secret, error) {
		key, err := manager.EncryptionKey(ctx, name)
		if err != nil {
			return Secret{}, err
		}
		answer := Secret{Name: key.SecretName}
		for ; key != nil; key = key.Old {
			answer.Keys = append(answer.Keys, *key)
		}
		return answer, nil
	}}
}

// Token asks for a text that nobody guesses.
func Token(name string) Request {
	return Request{Name: name, obtain: func(ctx context.Context, manager *secrets.Manager) (Secret, error) {
		token, err := manager.Token(ctx, name)
		return Secret{Token: token}, err
	}}
}

// Obtain returns the answers of a manager to requests, by name.
func Obtain(ctx context.Context, manager *secrets.Manager, requests []Request) (map[string]Secret, error) {
	answers := make(map[string]Secret, len(requests))
	for _, r := range requests {
		answer, err := r.obtain(ctx, manager)
		if err != nil {
			return nil, fmt.Errorf("obtain secret %q: %w", r.Name, err)
		}
		answers[r.Name] = answer
	}
	return answers, nil
}
