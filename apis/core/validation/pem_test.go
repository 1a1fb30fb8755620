// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/terrarium-garden/terrarium/apis/check/checktest"
	"github.com/terrarium-garden/terrarium/apis/core/validation"
)

func TestCABundle(t *testing.T) {
	t.Parallel()
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	template := &x509.Certificate{SerialNumber: big.NewInt(1)}
	raw, err := x509.CreateCertificate(nil, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	block := func(typ string, bytes []byte) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: typ, Bytes: bytes}))
	}
	certificate := block("CERTIFICATE", raw)
	wrong := []string{"caBundle: FieldValueInvalid"}
	for name, tc := range map[string]struct {
		reason string
		text   string
		want   []string
	}{
		"API-VALCP-1 one":    {reason: "a certificate is a bundle", text: certificate},
		"API-VALCP-1 two":    {reason: "so are several, with blanks around them", text: certificate + "\n" + certificate + "\n\n"},
		"API-VALCP-1 none":   {reason: "no certificate is none", text: "", want: wrong},
		"API-VALCP-1 more":   {reason: "nothing else follows them", text: certificate + "more", want: wrong},
		"API-VALCP-1 other":  {reason: "nor is among them", text: certificate + block("TRUSTED CERTIFICATE", raw), want: wrong},
		"API-VALCP-1 broken": {reason: "each can be read", text: certificate + block("CERTIFICATE", raw[1:]), want: wrong},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, checktest.Complaints(validation.CABundle(&tc.text, field.NewPath("caBundle")))); diff != "" {
				t.Errorf("%s\nCABundle(...) (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
