// SPDX-License-Identifier: Apache-2.0

package csr_test

import (
	"context"
	"crypto/x509"
	"crypto/x509/pkix"
	"testing"

	"github.com/google/go-cmp/cmp"
	authorizationv1 "k8s.io/api/authorization/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/garden/csr"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// requestOfShoot asks for the certificate of a client with that name.
func requestOfShoot(t *testing.T, name, author string) *request {
	t.Helper()
	subject := pkix.Name{CommonName: name, Organization: []string{"gardener.cloud:system:shoots"}}
	return &request{ObjectMeta: metav1.ObjectMeta{Name: "shoot-csr"}, Spec: certificatesv1.CertificateSigningRequestSpec{
		Request: encode(t, &x509.CertificateRequest{Subject: subject}), SignerName: "kubernetes.io/kube-apiserver-client",
		Usages: []certificatesv1.KeyUsage{"key encipherment", "digital signature", "client auth"}, Username: author,
	}}
}

// decision is what became of a request: the type, the reason and the message of its condition.
func decision(r *request) []string {
	var all []string
	for _, c := range r.Status.Conditions {
		all = append(all, string(c.Type), c.Reason, c.Message)
	}
	return all
}

func TestSelfHostedShoots_GCM_CSR_7(t *testing.T) {
	t.Parallel()
	const shoot, token = "gardener.cloud:system:shoot:garden-dev:a", "system:bootstrap:abcdef"
	denied := func(why string) []string { return []string{"Denied", "RequestDenied", why} }
	cases := map[string]struct {
		reason, name, author string
		// about is the description of the token; forbidden says that the author lacks the permission.
		about     string
		forbidden bool
		want      []string
	}{
		"Token":     {reason: "a token for this shoot: people decide", name: shoot, author: token, about: "Connects the shoot garden-dev/a."},
		"Gardenadm": {reason: "also while it is being connected", name: "gardener.cloud:gardenadm:shoot:garden-dev:a", author: token, about: "for the Shoot resource garden-dev/a"},
		"Renewal":   {reason: "its gardenlet has a certificate", name: shoot, author: shoot},
		"NoRight": {
			reason: "the permission is another one than that for seeds", name: shoot, author: token, about: "garden-dev/a", forbidden: true,
			want: denied(`user "system:bootstrap:abcdef" is not entitled to the certificate of a self-hosted shoot: it may not create certificatesigningrequests/shootclient`),
		},
		"NoToken": {
			reason: "a permission is not enough", name: shoot, author: "admin",
			want: denied(`user "admin" is not entitled to the certificate of a self-hosted shoot: it takes a bootstrap token for shoot "garden-dev/a"`),
		},
		"OtherGardenlet": {
			reason: "nor is the certificate of another shoot", name: shoot, author: "gardener.cloud:system:shoot:garden-dev:b",
			want: denied(`user "gardener.cloud:system:shoot:garden-dev:b" is not entitled to the certificate of a self-hosted shoot: it takes a bootstrap token for shoot "garden-dev/a"`),
		},
		"OtherShoot": {
			reason: "a token is for one shoot", name: shoot, author: token, about: "Connects the shoot garden-dev/ab.",
			want: denied(`token "abcdef" is not entitled to the certificate of a self-hosted shoot: its description does not name shoot "garden-dev/a"`),
		},
		"GoneToken": {
			reason: "a token that was deleted says nothing", name: shoot, author: "system:bootstrap:fedcba",
			want: denied(`token "fedcba" does not exist any more`),
		},
		"NoShoot": {
			reason: "a shoot has a namespace and a name", name: "gardener.cloud:system:shoot:a", author: token, about: "garden-dev/a",
			want: denied("the common name is not that of a self-hosted shoot, which has a namespace and a name"),
		},
		"NoClient": {reason: "other names are not ours", name: "gardener.cloud:system:seed:eu-1", author: token},
	}
	types, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked := requestOfShoot(t, tc.name, tc.author)
			secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "bootstrap-token-abcdef"}, Data: map[string][]byte{"description": []byte(tc.about)}}
			garden := fake.NewClientBuilder().WithScheme(types).WithObjects(asked, secret).WithInterceptorFuncs(interceptor.Funcs{
				Create: func(_ context.Context, _ client.WithWatch, o client.Object, _ ...client.CreateOption) error {
					if review, ok := o.(*authorizationv1.SubjectAccessReview); ok {
						review.Status.Allowed = !tc.forbidden && review.Spec.ResourceAttributes.Subresource == "shootclient"
					}
					return nil
				},
				SubResourceUpdate: func(ctx context.Context, c client.Client, subresource string, o client.Object, _ ...client.SubResourceUpdateOption) error {
					if subresource != "approval" {
						t.Errorf("%s: the subresource %q was written", tc.reason, subresource)
					}
					return c.Status().Update(ctx, o)
				},
			}).Build()
			r := &csr.Reconciler{Base: kit.Base{Client: garden, Reader: garden, Clock: clock.RealClock{}}}
			if result, err := r.Reconcile(t.Context(), asked); err != nil || !result.IsZero() {
				t.Errorf("%s: Reconcile(...) = %v, %v, want rest", tc.reason, result, err)
			}
			live := &request{}
			if err := garden.Get(t.Context(), client.ObjectKeyFromObject(asked), live); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, decision(live)); diff != "" {
				t.Errorf("%s\nconditions (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
