// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/keysize"
)

// backdate is how long certificates are valid before now, for shoots whose clocks are behind.
const backdate = 2 * time.Minute

// authority is the CA of a shoot that signs its clients.
type authority struct {
	certificate *x509.Certificate
	key         crypto.Signer
}

type subject struct{ name, group string }

// issued is a client certificate with its key, in PEM.
type issued struct {
	certificate, key []byte
	notAfter         time.Time
}

var (
	errNoCA      = errors.New("is not a certificate authority")
	errExpiredCA = errors.New("the client CA of the shoot expired")
)

// parseAuthority reads the CA that the gardenlet of the shoot has published.
func parseAuthority(certificate, key []byte) (*authority, error) {
	if keysize.Outsized(key, certificate) {
		return nil, keysize.ErrOutsized
	}
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return nil, fmt.Errorf("parse: %w", err)
	}
	signer, ok := pair.PrivateKey.(crypto.Signer)
	if !ok || !pair.Leaf.IsCA {
		return nil, errNoCA
	}
	return &authority{certificate: pair.Leaf, key: signer}, nil
}

// issue generates a key and signs a certificate for s, valid from shortly before now for lifetime, but not longer than the CA
// itself.
func (a *authority) issue(s subject, now time.Time, lifetime time.Duration) (*issued, error) {
	until := now.Add(lifetime)
	if until.After(a.certificate.NotAfter) {
		until = a.certificate.NotAfter
	}
	until = until.UTC().Truncate(time.Second)
	if !until.After(now) {
		return nil, fmt.Errorf("%w at %s", errExpiredCA, until.Format(time.RFC3339))
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("generate client key: %w", err)
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, fmt.Errorf("draw serial number: %w", err)
	}
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: s.name, Organization: []string{s.group}},
		NotBefore:    now.Add(-backdate),
		NotAfter:     until,
		KeyUsage:     x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}, a.certificate, key.Public(), a.key)
	if err != nil {
		return nil, fmt.Errorf("sign client certificate: %w", err)
	}
	raw, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("encode client key: %w", err)
	}
	return &issued{
		certificate: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		key:         pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: raw}),
		notAfter:    until,
	}, nil
}

// render returns a kubeconfig with one cluster and context for each address; the first one is the current context. The
// address that the wildcard certificate of the seed covers is verified with the CAs of the system (API-KUBE-5).
func render(
	shoot *gardencorev1beta1.Shoot, addresses []gardencorev1beta1.ShootAdvertisedAddress, bundle []byte, i *issued,
) ([]byte, error) {
	prefix := shoot.Namespace + "--" + shoot.Name + "-"
	first := prefix + addresses[0].Name
	config := clientcmdapi.NewConfig()
	config.AuthInfos[first] = &clientcmdapi.AuthInfo{ClientCertificateData: i.certificate, ClientKeyData: i.key}
	for _, a := range addresses {
		name := prefix + a.Name
		config.Clusters[name] = &clientcmdapi.Cluster{Server: a.URL, CertificateAuthorityData: bundle}
		if a.Name == gardencorev1beta1.AdvertisedAddressWildcardTLSSeedBound {
			config.Clusters[name].CertificateAuthorityData = nil
		}
		config.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: first}
	}
	config.CurrentContext = first
	raw, err := clientcmd.Write(*config)
	if err != nil {
		return nil, fmt.Errorf("write kubeconfig: %w", err)
	}
	return raw, nil
}
