// SPDX-License-Identifier: Apache-2.0

package secrets_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/crypto/ssh"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/terrarium-garden/terrarium/controllers/secrets"
)

// The tests of this file stand for other programs that read what is made here.

func clientOf(authority *secrets.CA) secrets.CertificateSpec {
	return secrets.CertificateSpec{Name: "someone", CA: authority, Usage: secrets.UsageClient, CommonName: "someone"}
}

func TestEveryGardenReadsTheClientAuthority(t *testing.T) {
	t.Parallel()
	s := newSeed()
	m := s.load(t)
	authority := ca(t, m, "ca-client")
	block, rest := pem.Decode(authority.Current.Key)
	if block == nil || block.Type != "RSA PRIVATE KEY" || len(bytes.TrimSpace(rest)) > 0 {
		t.Fatalf("the key of the client authority is not a single RSA key in PKCS#1, the only form that some gardens read")
	}
	key, err := x509.ParsePKCS1PrivateKey(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	if !key.PublicKey.Equal(parse(t, authority.Current.Certificate).PublicKey) || key.N.BitLen() < 3072 {
		t.Errorf("an authority of ten years has a key of %d bits, or not the one in its certificate", key.N.BitLen())
	}
	if _, err := tls.X509KeyPair(authority.Current.Certificate, authority.Current.Key); err != nil {
		t.Errorf("this garden does not read it: %v", err)
	}
	leaf := parse(t, certificate(t, m, clientOf(authority)).Certificate)
	if err := leaf.CheckSignatureFrom(parse(t, authority.Current.Certificate)); err != nil {
		t.Errorf("a certificate that it signs is not valid: %v", err)
	}
	if _, isRSA := parse(t, ca(t, m, "ca").Current.Certificate).PublicKey.(*rsa.PublicKey); isRSA {
		t.Error("authorities that stay in the seed have the faster keys")
	}
}

func TestClientAuthorityOfAnOlderShootStays(t *testing.T) {
	t.Parallel()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "ca-client"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
		NotBefore: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), NotAfter: time.Date(2036, 1, 1, 0, 0, 0, 0, time.UTC),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	older := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "ca-client", Labels: map[string]string{
			"managed-by": "secrets-manager", "manager-identity": "gardenlet", "name": "ca-client", "checksum-of-config": "0123456789abcdef",
		}},
		Data: map[string][]byte{
			"ca.crt": pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
			"ca.key": pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}),
		},
	}
	m := newSeed(older).load(t)
	authority := ca(t, m, "ca-client")
	if diff := cmp.Diff(string(older.Data["ca.crt"]), string(authority.Current.Certificate)); diff != "" {
		t.Fatalf("another authority would cut off every kubelet and every user of the shoot (-want +got):\n%s", diff)
	}
	leaf := parse(t, certificate(t, m, clientOf(authority)).Certificate)
	if err := leaf.CheckSignatureFrom(parse(t, authority.Current.Certificate)); err != nil {
		t.Errorf("it does not sign any more: %v", err)
	}
}

func TestSSHKey(t *testing.T) {
	t.Parallel()
	s := newSeed()
	first, err := s.load(t).SSHKey(t.Context(), "ssh-keypair")
	if err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.ParsePrivateKey(first.Private)
	if err != nil {
		t.Fatalf("an SSH client does not read the private key: %v", err)
	}
	public, _, _, rest, err := ssh.ParseAuthorizedKey(first.Public)
	if err != nil || len(rest) > 0 {
		t.Fatalf("a machine does not read the public key: %v", err)
	}
	if diff := cmp.Diff(signer.PublicKey().Marshal(), public.Marshal()); diff != "" {
		t.Errorf("the two halves do not belong to one key (-private +public):\n%s", diff)
	}
	again, err := s.load(t).SSHKey(t.Context(), "ssh-keypair")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first, again); diff != "" {
		t.Errorf("the key changes from run to run (-first +second):\n%s", diff)
	}
	if diff := cmp.Diff("true", s.get(t, first.SecretName).Labels["persist"]); diff != "" {
		t.Errorf("the key does not survive a move to another seed (-want +got):\n%s", diff)
	}
}
