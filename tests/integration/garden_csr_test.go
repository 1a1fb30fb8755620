// SPDX-License-Identifier: Apache-2.0

package integration_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	certificatesv1 "k8s.io/api/certificates/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/tests/harness"
)

// as is a client of the garden for another user.
func (o *operator) as(user string, groups ...string) client.Client {
	o.t.Helper()
	config := rest.CopyConfig(o.Config)
	config.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: append(groups, "system:authenticated")}
	c, err := client.New(config, client.Options{Scheme: o.Scheme})
	if err != nil {
		o.t.Fatalf("make client of %q: %v", user, err)
	}
	return c
}

func signingRequest(t *testing.T, name, commonName string) *certificatesv1.CertificateSigningRequest {
	t.Helper()
	return signingRequestOf(t, name, pkix.Name{CommonName: commonName, Organization: []string{"gardener.cloud:system:seeds"}})
}

func signingRequestOf(t *testing.T, name string, subject pkix.Name) *certificatesv1.CertificateSigningRequest {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatalf("generate key: %v", err)
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: subject}, key)
	if err != nil {
		t.Fatalf("create certificate request: %v", err)
	}
	return &certificatesv1.CertificateSigningRequest{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: certificatesv1.CertificateSigningRequestSpec{
			Request:    pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}),
			SignerName: "kubernetes.io/kube-apiserver-client",
			Usages:     []certificatesv1.KeyUsage{"key encipherment", "digital signature", "client auth"},
		},
	}
}

func approval(request *certificatesv1.CertificateSigningRequest) string {
	i := slices.IndexFunc(request.Status.Conditions, func(c certificatesv1.CertificateSigningRequestCondition) bool { return c.Type == "Approved" })
	if i < 0 {
		return ""
	}
	return request.Status.Conditions[i].Reason
}

func TestSigningRequests(t *testing.T) {
	t.Parallel()
	o := operate(t)
	gardenlet := o.as("system:bootstrap:abcdef", "system:bootstrappers")
	o.create(
		tokenFor("abcdef", nil),
		&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "ask"}, Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{"certificates.k8s.io"}, Resources: []string{"certificatesigningrequests"}, Verbs: []string{"create"}},
		}},
		&rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "ask"}, RoleRef: rbacv1.RoleRef{APIGroup: "rbac.authorization.k8s.io", Kind: "ClusterRole", Name: "ask"},
			Subjects: []rbacv1.Subject{{APIGroup: "rbac.authorization.k8s.io", Kind: "User", Name: "mallory"}},
		},
	)

	stranger := signingRequest(t, "stranger", "gardener.cloud:system:seed:stranger")
	harness.Eventually(t, "a user may ask as soon as the server has seen the right", func(ctx context.Context) error {
		return o.as("mallory").Create(ctx, stranger)
	})
	thief := signingRequest(t, "thief", "gardener.cloud:system:seed:good")
	evil := o.as("gardener.cloud:system:seed:evil", "gardener.cloud:system:seeds")
	if err := evil.Create(t.Context(), thief); !apierrors.IsForbidden(err) {
		t.Fatalf("GAC-SR-6: a gardenlet cannot ask for the certificate of another seed: got %v, want Forbidden", err)
	}
	renewal := signingRequest(t, "renewal", "gardener.cloud:system:seed:evil")
	if err := evil.Create(t.Context(), renewal); err != nil {
		t.Fatalf("GCM-CSR-6: a gardenlet may ask for its own: %v", err)
	}
	other := signingRequest(t, "other", "admin")
	good := signingRequest(t, "good", "gardener.cloud:system:seed:good")
	alone := signingRequestOf(t, "alone", pkix.Name{CommonName: "gardener.cloud:system:shoot:garden-dev:a", Organization: []string{"gardener.cloud:system:shoots"}})
	for _, request := range []*certificatesv1.CertificateSigningRequest{other, good, alone} {
		if err := gardenlet.Create(t.Context(), request); err != nil {
			t.Fatalf("GCM-CSR-6: a bootstrap token may ask: %v", err)
		}
	}

	good = harness.Await(t, o.Client, good, "GCM-CSR-5: the request of a gardenlet is approved and signed", func(r *certificatesv1.CertificateSigningRequest) error {
		return has(approval(r) != "" && len(r.Status.Certificate) > 0, "approval %q, certificate of %d bytes", approval(r), len(r.Status.Certificate))
	})
	if diff := cmp.Diff("AutoApproved", approval(good)); diff != "" {
		t.Errorf("GCM-CSR-5: reason of the approval (-want +got):\n%s", diff)
	}
	harness.Await(t, o.Client, renewal, "GCM-CSR-6: a gardenlet renews its certificate", func(r *certificatesv1.CertificateSigningRequest) error {
		return has(approval(r) == "AutoApproved", "conditions %v", r.Status.Conditions)
	})
	harness.Await(t, o.Client, alone, "GCM-CSR-7: a token that is not for a self-hosted shoot gets no certificate for it", func(r *certificatesv1.CertificateSigningRequest) error {
		denied := len(r.Status.Conditions) == 1 && r.Status.Conditions[0].Type == "Denied" && r.Status.Conditions[0].Reason == "RequestDenied" &&
			strings.Contains(r.Status.Conditions[0].Message, `does not name shoot "garden-dev/a"`)
		return has(denied, "conditions %v", r.Status.Conditions)
	})
	for reason, request := range map[string]*certificatesv1.CertificateSigningRequest{
		"GCM-CSR-4: a request of a user without the right stays pending": stranger,
		"GCM-CSR-3: a request for something else is left for people":     other,
	} {
		if err := o.Client.Get(t.Context(), client.ObjectKeyFromObject(request), request); err != nil {
			t.Fatalf("read request %q: %v", request.Name, err)
		}
		if diff := cmp.Diff(certificatesv1.CertificateSigningRequestStatus{}, request.Status); diff != "" {
			t.Errorf("%s; status (-want +got):\n%s", reason, diff)
		}
	}

	o.create(&rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "late"}, RoleRef: rbacv1.RoleRef{APIGroup: "rbac.authorization.k8s.io", Kind: "ClusterRole", Name: "gardener.cloud:system:seed-bootstrapper"},
		Subjects: []rbacv1.Subject{{APIGroup: "rbac.authorization.k8s.io", Kind: "User", Name: "mallory"}},
	})
	harness.Await(t, o.Client, stranger, "GCM-CSR-4: a request is judged again, so a right that comes late helps", func(r *certificatesv1.CertificateSigningRequest) error {
		return has(approval(r) == "AutoApproved", "conditions %v", r.Status.Conditions)
	})
}
