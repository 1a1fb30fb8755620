// SPDX-License-Identifier: Apache-2.0

package kubeconfig

import (
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"slices"

	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

const (
	// largestKey is the greatest number of bits of an RSA key, as in package tls. Computing with one of a megabyte takes hours, and
	// nothing ends it.
	largestKey = 8192
	// largestKeyFile is more than the PEM form of such a key has, largestBundle more than those of some hundred certificates.
	largestKeyFile, largestBundle = 8 << 10, 256 << 10
)

// Outsized reports whether the keys in a kubeconfig are made to keep this machine busy. Certificates are read without computing.
func Outsized(cluster *clientcmdapi.Cluster, user *clientcmdapi.AuthInfo) bool {
	bundles := [][]byte{cluster.CertificateAuthorityData, user.ClientCertificateData}
	return len(user.ClientKeyData) > largestKeyFile || slices.ContainsFunc(bundles, func(bundle []byte) bool {
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

func hasLargeKey(certificate *x509.Certificate) bool {
	key, ok := certificate.PublicKey.(*rsa.PublicKey)
	return ok && key.N.BitLen() > largestKey
}
