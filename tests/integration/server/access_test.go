// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

func anonymous(g *harness.Garden) func(t *testing.T) {
	return func(t *testing.T) {
		t.Parallel()

		cases := map[string]struct {
			reason string
			path   string
			status int
			body   string
		}{
			"Healthz":  {"A load balancer asks for health without credentials.", "/healthz", http.StatusOK, "ok"},
			"Livez":    {"A load balancer asks for health without credentials.", "/livez", http.StatusOK, "ok"},
			"Readyz":   {"A load balancer asks for health without credentials.", "/readyz", http.StatusOK, "ok"},
			"Version":  {"Clients look at the version before they log in.", "/version", http.StatusOK, ""},
			"CA":       {"A join starts from a hash of this.", "/cacerts", http.StatusOK, string(g.CA)},
			"List":     {"Nobody reads objects without a name.", "/api/v1/namespaces", http.StatusUnauthorized, ""},
			"Garden":   {"Nobody reads objects without a name.", "/apis/core.gardener.cloud/v1beta1/cloudprofiles", http.StatusUnauthorized, ""},
			"Metrics":  {"Metrics tell about the load and the objects.", "/metrics", http.StatusUnauthorized, ""},
			"OpenAPI":  {"Not open, so that there is one rule for all paths.", "/openapi/v2", http.StatusUnauthorized, ""},
			"UnderCA":  {"Only the exact path is open.", "/cacerts/x", http.StatusUnauthorized, ""},
			"Nowhere":  {"What exists is not told.", "/nowhere", http.StatusUnauthorized, ""},
			"ReadyOne": {"Single checks are for those who may read them.", "/readyz/etcd", http.StatusUnauthorized, ""},
		}
		for name, tc := range cases {
			t.Run(name, func(t *testing.T) {
				t.Parallel()

				kube, err := kubernetes.NewForConfig(g.Anonymous())
				if err != nil {
					t.Fatal(err)
				}
				var status int
				body, err := kube.RESTClient().Get().AbsPath(tc.path).Do(t.Context()).StatusCode(&status).Raw()
				if status != tc.status {
					t.Fatalf("%s\nGET %s: got status %d, %v, want %d", tc.reason, tc.path, status, err, tc.status)
				}
				if diff := cmp.Diff(tc.body, string(body)); tc.body != "" && diff != "" {
					t.Errorf("%s\nGET %s (-want +got):\n%s", tc.reason, tc.path, diff)
				}
			})
		}

		config := g.Anonymous()
		config.BearerToken = "wrong"
		kube, err := kubernetes.NewForConfig(config)
		if err != nil {
			t.Fatal(err)
		}
		if err := kube.RESTClient().Get().AbsPath("/healthz").Do(t.Context()).Error(); !apierrors.IsUnauthorized(err) {
			t.Errorf("Wrong credentials are refused everywhere, also where none are needed.\nGET /healthz: got %v, want Unauthorized", err)
		}
	}
}

func readyzNamesUnits(g *harness.Garden) func(t *testing.T) {
	return func(t *testing.T) {
		t.Parallel()

		kube, err := kubernetes.NewForConfig(g.Config)
		if err != nil {
			t.Fatal(err)
		}
		body, err := kube.RESTClient().Get().AbsPath("/readyz").Param("verbose", "").Do(t.Context()).Raw()
		if err != nil {
			t.Fatal(err)
		}
		for _, unit := range []string{"first-objects", "kube-controllers", "garden-controllers", "announce"} {
			if want := "[+]terrarium/" + unit + " ok"; !strings.Contains(string(body), want) {
				t.Errorf("An operator sees which part is not ready.\nGET /readyz?verbose: no line %q in\n%s", want, body)
			}
		}
	}
}

// bootstrapToken tries what somebody can do who has got hold of a join token.
func bootstrapToken(g *harness.Garden) func(t *testing.T) {
	return func(t *testing.T) {
		t.Parallel()

		mustCreate(t, g, tokenSecret("abcdef", time.Hour), tokenSecret("expire", -time.Minute))
		holder := g.WithToken(t, "abcdef.0123456789abcdef")
		request := seedRequest(t, "sprouting")
		if err := holder.Create(t.Context(), request); err != nil {
			t.Fatalf("A token is good from the moment on at which it has been made.\nCreate(request): %v", err)
		}
		if err := holder.Get(t.Context(), client.ObjectKeyFromObject(request), request); err != nil {
			t.Errorf("The request can be read, to get the certificate.\nGet(...): %v", err)
		}
		if want := "system:bootstrap:abcdef"; request.Spec.Username != want || !slices.Contains(request.Spec.Groups, "system:bootstrappers") {
			t.Errorf("The request says who made it: got %q of %v, want %q", request.Spec.Username, request.Spec.Groups, want)
		}

		shoot := &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: "mine"}}
		for what, err := range map[string]error{
			"list secrets":        holder.List(t.Context(), &corev1.SecretList{}),
			"list shoots":         holder.List(t.Context(), &gardencorev1beta1.ShootList{}),
			"list requests":       holder.List(t.Context(), &certificatesv1.CertificateSigningRequestList{}),
			"create a shoot":      holder.Create(t.Context(), shoot),
			"create a namespace":  holder.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "mine"}}),
			"approve the request": holder.SubResource("approval").Update(t.Context(), request),
			"create a role": holder.Create(t.Context(), &rbacv1.ClusterRole{
				ObjectMeta: metav1.ObjectMeta{Name: "mine"},
			}),
		} {
			if !apierrors.IsForbidden(err) {
				t.Errorf("A join token is good for a certificate of a gardenlet and nothing else.\n%s: got %v, want Forbidden", what, err)
			}
		}
		for token, reason := range map[string]string{
			"abcdef.fedcba9876543210": "The secret half is wrong.",
			"nobody.0123456789abcdef": "There is no such token.",
			"expire.0123456789abcdef": "The token has expired.",
		} {
			if err := g.WithToken(t, token).List(t.Context(), &corev1.SecretList{}); !apierrors.IsUnauthorized(err) {
				t.Errorf("%s\nList(...) with token %q: got %v, want Unauthorized", reason, token, err)
			}
		}
	}
}

// newTokens uses tokens at once, as a script does that pipes one command into the next.
func newTokens(g *harness.Garden) func(t *testing.T) {
	return func(t *testing.T) {
		t.Parallel()

		for n := range 10 {
			id := fmt.Sprintf("fresh%d", n)
			mustCreate(t, g, tokenSecret(id, time.Hour))
			review := &authenticationv1.SelfSubjectReview{}
			if err := g.WithToken(t, id+".0123456789abcdef").Create(t.Context(), review); err != nil {
				t.Fatalf("A token is good from the moment on at which it has been made.\nCreate(review) with token %d: %v", n, err)
			}
			want := []string{"system:bootstrappers", "system:authenticated"}
			if diff := cmp.Diff(want, review.Status.UserInfo.Groups); diff != "" {
				t.Errorf("Its groups do not depend on its age.\ngroups (-want +got):\n%s", diff)
			}
		}
	}
}

// seedCertificate follows a gardenlet from the token to its first write.
func seedCertificate(g *harness.Garden) func(t *testing.T) {
	return func(t *testing.T) {
		t.Parallel()

		mustCreate(t, g, tokenSecret("fedcba", time.Hour))
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		request := seedRequestOf(t, "budding", key)
		holder := g.WithToken(t, "fedcba.0123456789abcdef")
		if err := holder.Create(t.Context(), request); err != nil {
			t.Fatalf("A token is good from the moment on at which it has been made.\nCreate(request): %v", err)
		}
		issued := harness.Await(t, holder, request, "the request is approved and signed",
			func(r *certificatesv1.CertificateSigningRequest) error {
				if len(r.Status.Certificate) == 0 {
					return errNotYet
				}

				return nil
			})

		der, err := x509.MarshalECPrivateKey(key)
		if err != nil {
			t.Fatal(err)
		}
		config := g.Anonymous()
		config.CertData = issued.Status.Certificate
		config.KeyData = pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der})
		gardenlet, err := client.New(config, client.Options{Scheme: g.Scheme})
		if err != nil {
			t.Fatal(err)
		}
		lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "gardener-system-seed-lease", Name: "budding"}}
		if err := gardenlet.Create(t.Context(), lease); err != nil {
			t.Errorf("A gardenlet shows that it lives.\nCreate(lease): %v", err)
		}
		own := client.MatchingLabels{"name.seed.gardener.cloud/budding": "true"}
		if err := gardenlet.List(t.Context(), &gardencorev1beta1.ShootList{}, own); err != nil {
			t.Errorf("A gardenlet looks for its shoots.\nList(shoots): %v", err)
		}
		if err := gardenlet.List(t.Context(), &gardencorev1beta1.ShootList{}); !apierrors.IsForbidden(err) {
			t.Errorf("The shoots of others are none of its business.\nList(shoots): got %v, want Forbidden", err)
		}
		lease = &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "budding"}}
		if err := gardenlet.Create(t.Context(), lease); !apierrors.IsForbidden(err) {
			t.Errorf("Leases elsewhere are none of its business.\nCreate(lease): got %v, want Forbidden", err)
		}
		if err := gardenlet.List(t.Context(), &rbacv1.ClusterRoleList{}); !apierrors.IsForbidden(err) {
			t.Errorf("Roles are none of its business.\nList(roles): got %v, want Forbidden", err)
		}
	}
}

// serviceAccountToken uses tokens at once, when the caches of the server may not have yet what they are bound to.
func serviceAccountToken(g *harness.Garden) func(t *testing.T) {
	return func(t *testing.T) {
		t.Parallel()

		for n := range 20 {
			account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("robot-%d", n)}}
			bound := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: account.Name}}
			mustCreate(t, g, account, bound)
			asked := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
				BoundObjectRef: &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Secret", Name: bound.Name, UID: bound.UID},
			}}
			if err := g.Client.SubResource("token").Create(t.Context(), account, asked); err != nil {
				t.Fatalf("A service account gets a token.\nCreate(token): %v", err)
			}
			review := &authenticationv1.SelfSubjectReview{}
			if err := g.WithToken(t, asked.Status.Token).Create(t.Context(), review); err != nil {
				t.Fatalf("A token is good from the moment on at which it has been made.\nCreate(review) with token %d: %v", n, err)
			}
			if want := "system:serviceaccount:default:" + account.Name; review.Status.UserInfo.Username != want {
				t.Errorf("The token says who it is of: got %q, want %q", review.Status.UserInfo.Username, want)
			}
		}
	}
}

func tokenSecret(id string, lifetime time.Duration) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "bootstrap-token-" + id},
		Type:       corev1.SecretTypeBootstrapToken,
		StringData: map[string]string{
			"token-id":                       id,
			"token-secret":                   "0123456789abcdef",
			"usage-bootstrap-authentication": "true",
			"expiration":                     time.Now().Add(lifetime).UTC().Format(time.RFC3339),
		},
	}
}

func seedRequest(t *testing.T, seed string) *certificatesv1.CertificateSigningRequest {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}

	return seedRequestOf(t, seed, key)
}

func seedRequestOf(t *testing.T, seed string, key *ecdsa.PrivateKey) *certificatesv1.CertificateSigningRequest {
	t.Helper()
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: pkix.Name{
		CommonName:   "gardener.cloud:system:seed:" + seed,
		Organization: []string{"gardener.cloud:system:seeds"},
	}}, key)
	if err != nil {
		t.Fatal(err)
	}

	return &certificatesv1.CertificateSigningRequest{
		ObjectMeta: metav1.ObjectMeta{Name: "seed-csr-" + seed},
		Spec: certificatesv1.CertificateSigningRequestSpec{
			Request:    pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}),
			SignerName: certificatesv1.KubeAPIServerClientSignerName,
			Usages: []certificatesv1.KeyUsage{
				certificatesv1.UsageDigitalSignature, certificatesv1.UsageKeyEncipherment, certificatesv1.UsageClientAuth,
			},
		},
	}
}
