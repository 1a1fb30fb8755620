// SPDX-License-Identifier: Apache-2.0

package csr_test

import (
	"context"
	"crypto/x509"
	"crypto/x509/pkix"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/jointoken"
	"github.com/terrarium-garden/terrarium/apis/revocation"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
)

func theTime() time.Time { return time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC) }

// gardenOf has some objects. It lets everybody create clients of one kind, which is that of seeds or of shoots, and none of the other.
func gardenOf(t *testing.T, clients string, objects ...client.Object) client.WithWatch {
	t.Helper()
	types, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	return fake.NewClientBuilder().WithScheme(types).WithObjects(objects...).WithInterceptorFuncs(interceptor.Funcs{
		Create: func(_ context.Context, _ client.WithWatch, o client.Object, _ ...client.CreateOption) error {
			if review, ok := o.(*authorizationv1.SubjectAccessReview); ok {
				review.Status.Allowed = review.Spec.ResourceAttributes.Subresource == clients
			}
			return nil
		},
		SubResourceUpdate: func(ctx context.Context, c client.Client, subresource string, o client.Object, _ ...client.SubResourceUpdateOption) error {
			if subresource != "approval" {
				t.Errorf("the subresource %q was written", subresource)
			}
			return c.Status().Update(ctx, o)
		},
	}).Build()
}

// requestOfSeed asks for the certificate of the gardenlet of seed eu-1.
func requestOfSeed(t *testing.T, author string, change ...func(*request)) *request {
	t.Helper()
	subject := pkix.Name{CommonName: "gardener.cloud:system:seed:eu-1", Organization: []string{"gardener.cloud:system:seeds"}}
	r := &request{ObjectMeta: metav1.ObjectMeta{Name: "seed-csr", UID: "1"}, Spec: certificatesv1.CertificateSigningRequestSpec{
		Request: encode(t, &x509.CertificateRequest{Subject: subject}), SignerName: "kubernetes.io/kube-apiserver-client",
		Usages: []certificatesv1.KeyUsage{"key encipherment", "digital signature", "client auth"}, Username: author,
	}}
	for _, c := range change {
		c(r)
	}
	return r
}

// joinToken is the Secret of token abcdef with some data more than its end.
func joinToken(data map[string]string, use ...*jointoken.Use) *corev1.Secret {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "bootstrap-token-abcdef"}, Data: map[string][]byte{
		"expiration": []byte(theTime().Add(time.Hour).Format(time.RFC3339)),
	}}
	for key, value := range data {
		secret.Data[key] = []byte(value)
	}
	for _, u := range use {
		jointoken.Mark(secret, u)
	}
	return secret
}

func account(name string) *corev1.ServiceAccount {
	return &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: name}}
}

// joined is seed eu-1 with a certificate that is valid.
func joined() *gardencorev1beta1.Seed {
	return &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: "eu-1"}, Status: gardencorev1beta1.SeedStatus{
		ClientCertificateExpirationTimestamp: &metav1.Time{Time: theTime().Add(time.Hour)},
	}}
}

// record is that of a seed that is, or was, shut out.
func record(seed string, revoked bool) *corev1.ConfigMap {
	into := &corev1.ConfigMap{}
	revocation.Record{Seed: seed, Revoked: revoked, At: theTime()}.Encode(into)
	return into
}

// managed is the ManagedSeed of eu-1, made from a shoot with its seeds in spec and status.
func managed(seeds ...string) []client.Object {
	of := &gardenseedmanagementv1alpha1.ManagedSeed{ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: "eu-1"}}
	if len(seeds) == 0 {
		return []client.Object{of}
	}
	of.Spec.Shoot = &gardenseedmanagementv1alpha1.Shoot{Name: "host"}
	shoot := &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: "host"}}
	if seeds[0] != "" {
		shoot.Spec.SeedName = &seeds[0]
	}
	if len(seeds) > 1 {
		shoot.Status.SeedName = &seeds[1]
	}
	return []client.Object{of, shoot}
}
