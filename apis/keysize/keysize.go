// SPDX-License-Identifier: Apache-2.0

// Package keysize recognizes keys and certificates that are made to keep a machine busy. Keys that come from others are to be
// checked before they are parsed: parsing a private RSA key of a few hundred kilobytes computes for hours, and nothing ends it.
package keysize

import (
	"crypto"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"slices"
)

const (
	// largestKey is the greatest number of bits of an RSA key, as in package tls.
	largestKey = 8192
	// largestExponent is the greatest public exponent. Nearly all keys have 65537.
	largestExponent = 1<<17 - 1
	// largestKeyFile is more than the PEM form of such a key has, largestBundle more than those of some hundred certificates.
	largestKeyFile, largestBundle = 8 << 10, 256 << 10
)

// ErrOutsized says what to do about an outsized key.
var ErrOutsized = errors.New("the key or the certificate is too large: use an ECDSA key or an RSA key of at most 8192 bits, " +
	"in PEM files of at most 8 KiB for the key and 256 KiB for certificates")

// Outsized reports whether a private key or one of its certificates, all in PEM, is outsized. Nothing is computed with them.
func Outsized(key []byte, bundles ...[]byte) bool {
	return len(key) > largestKeyFile || slices.ContainsFunc(bundles, func(bundle []byte) bool {
		return len(bundle) > largestBundle || slices.ContainsFunc(certificates(bundle), hasLargeKey)
	})
}

func certificates(bundle []byte) []*x509.Certificate {
	var all []*x509.Certificate
	for {
		var block *pem.Block
		if block, bundle = pem.Decode(bundle); block == nil {
			return all
		}
		if found, err := x509.ParseCertificate(block.Bytes); err == nil {
			all = append(all, found)
		}
	}
}

func hasLargeKey(certificate *x509.Certificate) bool { return Large(certificate.PublicKey) }

// Large reports whether a public key is an RSA key of more than 8192 bits, or one with an exponent that no key in use has: to verify a signature
// takes long.
func Large(key crypto.PublicKey) bool {
	public, ok := key.(*rsa.PublicKey)
	return ok && (public.N.BitLen() > largestKey || public.E > largestExponent)
}
