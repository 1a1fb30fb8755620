// SPDX-License-Identifier: Apache-2.0

package references_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	certificatesv1 "k8s.io/api/certificates/v1"

	"github.com/terrarium-garden/terrarium/appliance/authorization/references"
	"github.com/terrarium-garden/terrarium/appliance/authorization/shootclient"
)

// TestRequests reads for whose gardenlet a certificate would be: one that says more than that is for nobody's.
func TestRequests(t *testing.T) {
	t.Parallel()
	name := func(user, group string) func(*x509.CertificateRequest) {
		return func(r *x509.CertificateRequest) { r.Subject.CommonName, r.Subject.Organization = user, []string{group} }
	}
	const (
		seeds  = "gardener.cloud:system:seeds"
		shoots = "gardener.cloud:system:shoots"
	)
	unit := asn1.ObjectIdentifier{2, 5, 4, 11}
	for reason, tc := range map[string]struct {
		change func(r *x509.CertificateRequest)
		usages []certificatesv1.KeyUsage
		seed   string
		shoot  shootclient.Client
	}{
		"a gardenlet of a seed":         {change: name("gardener.cloud:system:seed:north", seeds), seed: "north"},
		"a gardenlet of a shoot":        {change: name("gardener.cloud:system:shoot:garden:lone", shoots), shoot: shootclient.Client{Namespace: "garden", Name: "lone"}},
		"a seed whose name no Seed has": {change: name("gardener.cloud:system:seed:a b", seeds)},
		"a seed without a name":         {change: name("gardener.cloud:system:seed:", seeds)},
		"a shoot without a namespace":   {change: name("gardener.cloud:system:shoot:lone", shoots)},
		"a seed in the group of shoots": {change: name("gardener.cloud:system:seed:north", shoots)},
		"a shoot in the group of seeds": {change: name("gardener.cloud:system:shoot:garden:lone", seeds)},
		"an administrator":              {change: name("gardener.cloud:system:seed:north", "system:masters")},
		"another attribute": {change: func(r *x509.CertificateRequest) {
			r.Subject.ExtraNames = []pkix.AttributeTypeAndValue{{Type: unit, Value: "system:masters"}}
		}},
		"a name for a server":             {change: func(r *x509.CertificateRequest) { r.DNSNames = []string{"a.example"} }},
		"a certificate good for a server": {usages: []certificatesv1.KeyUsage{certificatesv1.UsageClientAuth, certificatesv1.UsageServerAuth}},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			template := &x509.CertificateRequest{}
			name("gardener.cloud:system:seed:north", seeds)(template)
			if tc.change != nil {
				tc.change(template)
			}
			spec := &certificatesv1.CertificateSigningRequestSpec{
				Request: request(t, template), SignerName: certificatesv1.KubeAPIServerClientSignerName, Usages: tc.usages,
			}
			if spec.Usages == nil {
				spec.Usages = []certificatesv1.KeyUsage{certificatesv1.UsageClientAuth, certificatesv1.UsageDigitalSignature, certificatesv1.UsageKeyEncipherment}
			}
			seed, err := references.SeedOfRequest(spec)
			if diff := cmp.Diff(tc.seed, seed); diff != "" || err != nil {
				t.Errorf("GAC-SR-6: SeedOfRequest(...): %v (-want +got):\n%s", err, diff)
			}
			shoot, err := references.ShootOfRequest(spec)
			if diff := cmp.Diff(tc.shoot, shoot); diff != "" || err != nil {
				t.Errorf("GAC-SHOOTR-1: ShootOfRequest(...): %v (-want +got):\n%s", err, diff)
			}
		})
	}
	if _, err := references.SeedOfRequest(&certificatesv1.CertificateSigningRequestSpec{}); !errors.Is(err, references.ErrNoRequest) {
		t.Errorf("what is no request is refused: got %v", err)
	}
}

func request(t *testing.T, template *x509.CertificateRequest) []byte {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, template, key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der})
}
