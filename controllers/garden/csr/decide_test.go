// SPDX-License-Identifier: Apache-2.0

package csr_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"net"
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"
	authorizationv1 "k8s.io/api/authorization/v1"
	certificatesv1 "k8s.io/api/certificates/v1"

	"github.com/terrarium-garden/terrarium/controllers/garden/csr"
)

type request = certificatesv1.CertificateSigningRequest

func encode(t *testing.T, template *x509.CertificateRequest) []byte {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatalf("generate key: %v", err)
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, template, key)
	if err != nil {
		t.Fatalf("create certificate request: %v", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der})
}

func TestSeedClient(t *testing.T) {
	t.Parallel()
	type template = x509.CertificateRequest
	cases := map[string]struct {
		reason string
		cert   func(*template)
		csr    func(*request)
		want   bool
		fails  bool
	}{
		"GCM-CSR-2 gardenlet":      {reason: "exactly what a gardenlet asks for", want: true},
		"GCM-CSR-2 usage twice":    {reason: "usages are a set", csr: func(r *request) { r.Spec.Usages = append(r.Spec.Usages, "client auth") }, want: true},
		"GCM-CSR-2 missing usage":  {reason: "fewer usages than a client has", csr: func(r *request) { r.Spec.Usages = r.Spec.Usages[1:] }},
		"GCM-CSR-2 server usage":   {reason: "more usages than a client has", csr: func(r *request) { r.Spec.Usages = append(r.Spec.Usages, "server auth") }},
		"GCM-CSR-2 other group":    {reason: "another organization", cert: func(c *template) { c.Subject.Organization = []string{"system:masters"} }},
		"GCM-CSR-2 second group":   {reason: "one organization too many", cert: func(c *template) { c.Subject.Organization = append(c.Subject.Organization, "system:masters") }},
		"GCM-CSR-2 other user":     {reason: "a common name that is no seed", cert: func(c *template) { c.Subject.CommonName = "admin" }},
		"GCM-CSR-2 prefix alone":   {reason: "a seed without a name", cert: func(c *template) { c.Subject.CommonName = "gardener.cloud:system:seed:" }},
		"attributes two words":     {reason: "a common name that no Seed can have", cert: func(c *template) { c.Subject.CommonName = "gardener.cloud:system:seed:a b" }},
		"attributes capitals":      {reason: "a common name that no Seed can have", cert: func(c *template) { c.Subject.CommonName = "gardener.cloud:system:seed:EU-1" }},
		"attributes unit":          {reason: "an organizational unit", cert: func(c *template) { c.Subject.OrganizationalUnit = []string{"system:masters"} }},
		"attributes serial number": {reason: "an attribute that nobody reads today", cert: func(c *template) { c.Subject.SerialNumber = "1" }},
		"attributes second name": {reason: "a second common name, of which only one is seen by those who read the first", cert: func(c *template) {
			c.Subject.ExtraNames = []pkix.AttributeTypeAndValue{{Type: []int{2, 5, 4, 3}, Value: "admin"}, {Type: []int{2, 5, 4, 3}, Value: "gardener.cloud:system:seed:eu-1"}}
		}},
		"GCM-CSR-2 DNS name":   {reason: "a client needs no DNS name", cert: func(c *template) { c.DNSNames = []string{"a.example"} }},
		"GCM-CSR-2 e-mail":     {reason: "a client needs no e-mail address", cert: func(c *template) { c.EmailAddresses = []string{"a@b.example"} }},
		"GCM-CSR-2 IP address": {reason: "a client needs no IP address", cert: func(c *template) { c.IPAddresses = []net.IP{net.IPv4(10, 0, 0, 1)} }},
		"GCM-CSR-2 URI":        {reason: "a client needs no URI", cert: func(c *template) { c.URIs = []*url.URL{{Scheme: "spiffe", Host: "a"}} }},
		"GCM-CSR-7 self-hosted": {reason: "the certificate of a self-hosted shoot is another one", cert: func(c *template) {
			c.Subject = pkix.Name{CommonName: "gardener.cloud:system:shoot:garden-dev:a", Organization: []string{"gardener.cloud:system:shoots"}}
		}},
		"GCM-CSR-7 in disguise": {reason: "also if it has the name of a seed", cert: func(c *template) {
			c.Subject.Organization = []string{"gardener.cloud:system:shoots"}
		}},
		"GCM-CSR-3 other signer":    {reason: "a request to another signer is not ours", csr: func(r *request) { r.Spec.SignerName = "kubernetes.io/kubelet-serving" }},
		"GCM-CSR-3 no PEM":          {reason: "what is no PEM is an error", csr: func(r *request) { r.Spec.Request = []byte("hello") }, fails: true},
		"GCM-CSR-3 no request":      {reason: "another PEM block is an error", csr: func(r *request) { r.Spec.Request = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE"}) }, fails: true},
		"GCM-CSR-3 broken contents": {reason: "a block that cannot be parsed is an error", csr: func(r *request) { r.Spec.Request = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST"}) }, fails: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cert := &template{Subject: pkix.Name{CommonName: "gardener.cloud:system:seed:eu-1", Organization: []string{"gardener.cloud:system:seeds"}}}
			if tc.cert != nil {
				tc.cert(cert)
			}
			r := &request{Spec: certificatesv1.CertificateSigningRequestSpec{
				Request:    encode(t, cert),
				SignerName: "kubernetes.io/kube-apiserver-client",
				Usages:     []certificatesv1.KeyUsage{"key encipherment", "digital signature", "client auth"},
			}}
			if tc.csr != nil {
				tc.csr(r)
			}
			got, err := csr.Asked(r)
			if (got != nil) != tc.want || got != nil && got.Seed != "eu-1" || (err != nil) != tc.fails {
				t.Errorf("%s\nAsked(...) = %+v, %v; want seed eu-1 %t, failure %t", tc.reason, got, err, tc.want, tc.fails)
			}
		})
	}
}

func TestImpersonates(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason    string
		requester string
		want      bool
	}{
		"token":      {reason: "a new seed joins with a token", requester: "system:bootstrap:abcdef"},
		"renewal":    {reason: "a gardenlet renews its own certificate", requester: "gardener.cloud:system:seed:eu-1"},
		"other seed": {reason: "a gardenlet cannot become another one", requester: "gardener.cloud:system:seed:us-1", want: true},
		"odd seed":   {reason: "nor one whose name no Seed can have", requester: "gardener.cloud:system:seed:a b", want: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &request{Spec: certificatesv1.CertificateSigningRequestSpec{Username: tc.requester}}
			if got := csr.Impersonates(r, "eu-1"); got != tc.want {
				t.Errorf("%s\nImpersonates(...) = %t, want %t", tc.reason, got, tc.want)
			}
		})
	}
}

func TestOpen(t *testing.T) {
	t.Parallel()
	condition := func(kind certificatesv1.RequestConditionType) certificatesv1.CertificateSigningRequestStatus {
		return certificatesv1.CertificateSigningRequestStatus{Conditions: []certificatesv1.CertificateSigningRequestCondition{{Type: kind}}}
	}
	cases := map[string]struct {
		reason string
		status certificatesv1.CertificateSigningRequestStatus
		want   bool
	}{
		"GCM-CSR-1 new":      {reason: "nobody decided", want: true},
		"GCM-CSR-1 failed":   {reason: "a failure to sign is no decision", status: condition("Failed"), want: true},
		"GCM-CSR-1 approved": {reason: "already approved", status: condition("Approved")},
		"GCM-CSR-1 denied":   {reason: "already denied", status: condition("Denied")},
		"GCM-CSR-1 issued":   {reason: "already issued", status: certificatesv1.CertificateSigningRequestStatus{Certificate: []byte("x")}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := csr.Open(&request{Status: tc.status}); got != tc.want {
				t.Errorf("%s\nOpen(...) = %t, want %t", tc.reason, got, tc.want)
			}
		})
	}
}

func TestReview(t *testing.T) {
	t.Parallel()
	got := csr.Review(&request{Spec: certificatesv1.CertificateSigningRequestSpec{
		Username: "system:bootstrap:abcdef", UID: "1", Groups: []string{"system:bootstrappers"}, Extra: map[string]certificatesv1.ExtraValue{"k": {"v"}},
	}}, "seedclient").Spec
	want := authorizationv1.SubjectAccessReviewSpec{
		User: "system:bootstrap:abcdef", UID: "1", Groups: []string{"system:bootstrappers"}, Extra: map[string]authorizationv1.ExtraValue{"k": {"v"}},
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Verb: "create", Group: "certificates.k8s.io", Version: "*", Resource: "certificatesigningrequests", Subresource: "seedclient",
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("GCM-CSR-4: the review asks about the requester, not about us (-want +got):\n%s", diff)
	}
}
