// SPDX-License-Identifier: Apache-2.0

package datastores_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"path/filepath"
	"testing"
	"time"
)

// certificates are those of a datastore and of its client, of one authority.
type certificates struct {
	authority      []byte
	authorityFile  string
	server, client pair
}

type pair struct {
	cert, key         []byte
	certFile, keyFile string
}

func newCertificates(t *testing.T) *certificates {
	t.Helper()
	dir := t.TempDir()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	authority := template("authority")
	authority.IsCA, authority.BasicConstraintsValid, authority.KeyUsage = true, true, x509.KeyUsageCertSign
	der, err := x509.CreateCertificate(rand.Reader, authority, authority, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	c := &certificates{authority: encode("CERTIFICATE", der), authorityFile: filepath.Join(dir, "ca.crt")}
	write(t, c.authorityFile, c.authority)
	for name, into := range map[string]*pair{"server": &c.server, "client": &c.client} {
		*into = issue(t, name, authority, key)
		into.certFile, into.keyFile = filepath.Join(dir, name+".crt"), filepath.Join(dir, name+".key")
		write(t, into.certFile, into.cert)
		write(t, into.keyFile, into.key)
	}

	return c
}

func issue(t *testing.T, name string, authority *x509.Certificate, by *ecdsa.PrivateKey) pair {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	leaf := template(name)
	leaf.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
	leaf.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth}
	der, err := x509.CreateCertificate(rand.Reader, leaf, authority, &key.PublicKey, by)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}

	return pair{cert: encode("CERTIFICATE", der), key: encode("EC PRIVATE KEY", private)}
}

func template(name string) *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
}

func encode(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}
