// SPDX-License-Identifier: Apache-2.0

package keysize_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"testing"
	"time"

	"github.com/terrarium-garden/terrarium/apis/keysize"
)

// certificate returns a certificate of an RSA key whose modulus has so many bits. Nobody knows its factors, which nobody needs.
func certificate(t *testing.T, bits uint) []byte {
	t.Helper()
	issuer, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	modulus := new(big.Int).Lsh(big.NewInt(1), bits-1)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Unix(0, 0), NotAfter: time.Unix(1<<32, 0)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &rsa.PublicKey{N: modulus.SetBit(modulus, 0, 1), E: 65537}, issuer)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

func TestOutsized(t *testing.T) {
	t.Parallel()
	fine, large := certificate(t, 8192), certificate(t, 8193)
	file := func(size int) []byte { return bytes.Repeat([]byte("x"), size) }
	for name, tc := range map[string]struct {
		reason  string
		key     []byte
		bundles [][]byte
		want    bool
	}{
		"nothing":      {reason: "what is not there is not large"},
		"largest":      {reason: "the largest key that TLS accepts", key: file(8 << 10), bundles: [][]byte{fine}},
		"key":          {reason: "no accepted key has such a file", key: file(8<<10 + 1), want: true},
		"certificate":  {reason: "one bit more", bundles: [][]byte{large}, want: true},
		"later":        {reason: "also behind another one", bundles: [][]byte{append(bytes.Clone(fine), large...)}, want: true},
		"second":       {reason: "also in another bundle", bundles: [][]byte{fine, large}, want: true},
		"bundle":       {reason: "no accepted bundle is as large", bundles: [][]byte{file(256<<10 + 1)}, want: true},
		"large bundle": {reason: "one of this size is", bundles: [][]byte{file(256 << 10)}},
		"garbage":      {reason: "what is no certificate is judged by others", bundles: [][]byte{[]byte("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := keysize.Outsized(tc.key, tc.bundles...); got != tc.want {
				t.Errorf("%s: got %t, want %t", tc.reason, got, tc.want)
			}
		})
	}
}
