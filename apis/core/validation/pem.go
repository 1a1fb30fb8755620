// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// CABundle checks that a text is one certificate or more in PEM format.
func CABundle(value *string, path *field.Path) field.ErrorList {
	if value == nil {
		return nil
	}
	const message = "must be certificates in PEM"
	rest, found := []byte(*value), 0
	for {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		if block.Type != "CERTIFICATE" {
			return field.ErrorList{field.Invalid(path, block.Type, message)}
		}
		if _, err := x509.ParseCertificate(block.Bytes); err != nil {
			return field.ErrorList{field.Invalid(path, "", message+": "+err.Error())}
		}
		found++
	}
	if found == 0 || len(bytes.TrimSpace(rest)) > 0 {
		return field.ErrorList{field.Invalid(path, "", message)}
	}
	return nil
}
