// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"time"

	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	"k8s.io/utils/clock"
)

// loopbackLifetime is how long the loopback certificate is valid. It lives in this process only, and no process is that old.
const loopbackLifetime = 10 * 365 * 24 * time.Hour

// applyServing sets how the server serves, and the configuration of clients within this process.
func (c *completed) applyServing(config *genericapiserver.Config) error {
	if err := c.library.SecureServing.SecureServingOptions.ApplyTo(&config.SecureServing); err != nil {
		return fmt.Errorf("apply options of the listener: %w", err)
	}
	certificate, key, err := loopbackCertificate(clock.RealClock{}.Now()) // TLS has no other clock.
	if err != nil {
		return fmt.Errorf("make loopback certificate: %w", err)
	}
	serving, err := dynamiccertificates.NewStaticSNICertKeyContent("loopback", certificate, key, genericapiserver.LoopbackClientServerNameOverride)
	if err != nil {
		return fmt.Errorf("make loopback certificate: %w", err)
	}
	// The first one of a name is served.
	config.SecureServing.SNICerts = append([]dynamiccertificates.SNICertKeyContentProvider{serving}, config.SecureServing.SNICerts...)
	client, err := config.SecureServing.NewLoopbackClientConfig(rand.Text(), certificate)
	if err != nil {
		return fmt.Errorf("configure loopback client: %w", err)
	}
	client.ContentType = "application/vnd.kubernetes.protobuf"
	client.DisableCompression = true
	config.LoopbackClientConfig = client

	return nil
}

// loopbackCertificate returns a new certificate, signed by itself, and its key, both in PEM. Clients within this process trust no
// other, and nobody else trusts it.
func loopbackCertificate(now time.Time) (certificate, key []byte, err error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, fmt.Errorf("generate key: %w", err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		Subject:      pkix.Name{CommonName: genericapiserver.LoopbackClientServerNameOverride},
		DNSNames:     []string{genericapiserver.LoopbackClientServerNameOverride},
		// A clock that is set back a little does not matter.
		NotBefore:             now.Add(-24 * time.Hour),
		NotAfter:              now.Add(loopbackLifetime),
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
		IsCA:                  true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		return nil, nil, fmt.Errorf("sign: %w", err)
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return nil, nil, fmt.Errorf("encode key: %w", err)
	}

	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded}), nil
}
