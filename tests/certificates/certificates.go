// SPDX-License-Identifier: Apache-2.0

// Package certificates finds certificates wherever tests have to look for them.
package certificates

import (
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"regexp"
)

// In returns all certificates in a text: those in PEM, and those in base64 inside of a kubeconfig.
func In(data []byte) []*x509.Certificate {
	texts := [][]byte{data}
	for _, match := range regexp.MustCompile(`[A-Za-z0-9+/=]{200,}`).FindAll(data, -1) {
		if plain, err := base64.StdEncoding.DecodeString(string(match)); err == nil {
			texts = append(texts, plain)
		}
	}
	var found []*x509.Certificate
	for _, text := range texts {
		for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
			if certificate, err := x509.ParseCertificate(block.Bytes); err == nil {
				found = append(found, certificate)
			}
		}
	}

	return found
}
