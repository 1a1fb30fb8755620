// SPDX-License-Identifier: Apache-2.0

package gardenaccess_test

import (
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/terrarium-garden/terrarium/appliance/gardenlet/gardenaccess"
)

func TestOpenRequestsCertificate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.settings.Validity = new(48 * time.Hour)
	w.bootstrapSecret(bootstrapToken)
	access, err := w.open()
	if err != nil {
		t.Fatalf("Open(...): %v", err)
	}

	requests := w.garden.created()
	if len(requests) != 1 {
		t.Fatalf("Open(...): %d requests were made, want 1", len(requests))
	}
	got := requests[0].Spec
	block, _ := pem.Decode(got.Request)
	parsed, err := x509.ParseCertificateRequest(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	type summary struct {
		Name, Signer, CommonName string
		Organizations            []string
		Usages                   []certificatesv1.KeyUsage
		Seconds                  int32
		Algorithm                x509.PublicKeyAlgorithm
		Names                    int
	}
	want := summary{
		Name: "seed-csr-0", Signer: "kubernetes.io/kube-apiserver-client", CommonName: "gardener.cloud:system:seed:one",
		Organizations: []string{"gardener.cloud:system:seeds"},
		Usages:        []certificatesv1.KeyUsage{"digital signature", "key encipherment", "client auth"},
		Seconds:       172800, Algorithm: x509.ECDSA,
	}
	diff := cmp.Diff(want, summary{
		Name: requests[0].Name, Signer: got.SignerName, CommonName: parsed.Subject.CommonName, Organizations: parsed.Subject.Organization,
		Usages: got.Usages, Seconds: *got.ExpirationSeconds, Algorithm: parsed.PublicKeyAlgorithm,
		Names: len(parsed.DNSNames) + len(parsed.IPAddresses) + len(parsed.URIs) + len(parsed.EmailAddresses),
	})
	if diff != "" {
		t.Errorf("The request is exactly what the garden approves by itself\n(-want +got):\n%s", diff)
	}

	kubeconfig := string(w.secret("gardenlet-kubeconfig").Data["kubeconfig"])
	if n := strings.Count(kubeconfig, "name: gardenlet\n"); n != 3 {
		t.Errorf("Cluster, user and context are called gardenlet; found that name %d times in\n%s", n, kubeconfig)
	}
	if w.secret("gardenlet-kubeconfig-bootstrap") != nil {
		t.Error("The bootstrap Secret is forgotten in the seed, but it is still there")
	}
	if diff := cmp.Diff([]string{"/api/v1/namespaces/kube-system/secrets/bootstrap-token-abcdef"}, w.garden.deleted); diff != "" {
		t.Errorf("The token is forgotten in the garden (-want +got):\n%s", diff)
	}
	if want := w.clock.Now().Add(100 * time.Hour).Truncate(time.Second); !access.Expiry().Time.Equal(want) {
		t.Errorf("Expiry(): got %s, want %s", access.Expiry(), want)
	}
}

func TestOpenForgetsServiceAccount(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	payload := base64.RawURLEncoding.EncodeToString([]byte(`{"sub":"system:serviceaccount:garden:gardenlet-bootstrap"}`))
	w.bootstrapSecret("e30." + payload + ".sig")
	if _, err := w.open(); err != nil {
		t.Fatalf("Open(...): %v", err)
	}
	want := []string{
		"/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/gardener.cloud:system:seed-bootstrapper:garden:gardenlet-bootstrap",
		"/api/v1/namespaces/garden/serviceaccounts/gardenlet-bootstrap",
	}
	if diff := cmp.Diff(want, w.garden.deleted); diff != "" {
		t.Errorf("A service account used for the bootstrap is forgotten with its binding (-want +got):\n%s", diff)
	}
}

func TestOpenUsesStoredKubeconfig(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.storedSecret("one", w.clock.Now())
	if _, err := w.open(); err != nil {
		t.Fatalf("Open(...): %v", err)
	}
	if n := len(w.garden.created()); n != 0 {
		t.Errorf("A stored certificate is used as it is, but %d requests were made", n)
	}
}

func TestOpenReplacesUnusableKubeconfig(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason    string
		seed      string
		age       time.Duration
		bootstrap bool
		want      string
	}{
		"ExpiredWithToken":    {reason: "an expired certificate is replaced if there is a token", seed: "one", age: 200 * time.Hour, bootstrap: true},
		"OtherSeedWithToken":  {reason: "a certificate of another seed is replaced if there is a token", seed: "two", bootstrap: true},
		"ExpiredWithoutToken": {reason: "without a token the error tells what is wrong", seed: "one", age: 200 * time.Hour, want: "the client certificate expired on"},
		"OtherWithoutToken":   {reason: "the error names both seeds", seed: "two", want: `is for "gardener.cloud:system:seed:two", not for "gardener.cloud:system:seed:one"`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.storedSecret(tc.seed, w.clock.Now().Add(-tc.age))
			if tc.bootstrap {
				w.bootstrapSecret(bootstrapToken)
			}
			_, err := w.open()
			if tc.want != "" {
				if err == nil || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), "join the seed") {
					t.Errorf("%s\nOpen(...): got error %v, want one with %q that says how to go on", tc.reason, err, tc.want)
				}
				return
			}
			if err != nil {
				t.Fatalf("%s\nOpen(...): %v", tc.reason, err)
			}
			if err := w.stored().Usable("one", w.clock.Now()); err != nil {
				t.Errorf("%s\nthe stored certificate is still not usable: %v", tc.reason, err)
			}
		})
	}
}

func TestOpenFails(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason  string
		prepare func(w *world)
		want    error
		text    string
		problem bool
	}{
		"NoPlace": {
			reason: "without any place for credentials both possibilities are named",
			prepare: func(w *world) {
				w.settings.KubeconfigSecret, w.settings.BootstrapKubeconfig = nil, nil
			},
			want: gardenaccess.ErrNoCredentials, text: "gardenClientConnection.kubeconfig, or gardenClientConnection.bootstrapKubeconfig",
		},
		"NoBootstrapSecret": {
			reason:  "a configured bootstrap Secret must be there",
			prepare: func(*world) {},
			want:    gardenaccess.ErrNoCredentials, text: "garden/gardenlet-kubeconfig-bootstrap",
		},
		"NoFile": {
			reason: "a kubeconfig file that is missing is named",
			prepare: func(w *world) {
				w.settings.BootstrapKubeconfig, w.settings.Kubeconfig = nil, "/nowhere/kubeconfig"
			},
			text: `"/nowhere/kubeconfig"`,
		},
		"Denied": {
			reason: "a refused request is an error at once",
			prepare: func(w *world) {
				w.bootstrapSecret(bootstrapToken)
				w.garden.decide = func(request *certificatesv1.CertificateSigningRequest) {
					request.Status.Conditions = []certificatesv1.CertificateSigningRequestCondition{{
						Type: certificatesv1.CertificateDenied, Status: corev1.ConditionTrue, Reason: "NotYou", Message: "we do not know you",
					}}
				}
			},
			want: gardenaccess.ErrDenied, text: "NotYou", problem: true,
		},
		"Unauthorized": {
			reason: "an unknown or expired token is an error",
			prepare: func(w *world) {
				w.bootstrapSecret(bootstrapToken)
				w.garden.refuse = http.StatusUnauthorized
			},
			want: gardenaccess.ErrUnauthorized, problem: true,
		},
		"Forbidden": {
			reason: "a token without the permission is an error",
			prepare: func(w *world) {
				w.bootstrapSecret(bootstrapToken)
				w.garden.refuse = http.StatusForbidden
			},
			want: gardenaccess.ErrForbidden, problem: true,
		},
		"OtherServer": {
			reason: "a server with a certificate of another authority is not trusted",
			prepare: func(w *world) {
				_, other := authority(w.t)
				w.put("gardenlet-kubeconfig-bootstrap", gardenaccess.Material{Server: w.garden.URL, CA: encode(other), Token: bootstrapToken})
			},
			want: gardenaccess.ErrOtherServer, problem: true,
		},
		"OtherName": {
			reason: "a garden reached by a name that its certificate lacks is not trusted",
			prepare: func(w *world) {
				server := strings.Replace(w.garden.URL, "127.0.0.1", "localhost", 1)
				w.put("gardenlet-kubeconfig-bootstrap", gardenaccess.Material{Server: server, CA: w.garden.ca(), Token: bootstrapToken})
			},
			want: gardenaccess.ErrOtherName, problem: true,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			tc.prepare(w)
			err := w.openPatiently()
			if err == nil || (tc.want != nil && !errors.Is(err, tc.want)) || !strings.Contains(err.Error(), tc.text) {
				t.Fatalf("%s\nOpen(...): got error %v, want %v with %q", tc.reason, err, tc.want, tc.text)
			}
			if w.secret("gardenlet-kubeconfig") != nil {
				t.Errorf("%s\nnothing may be stored", tc.reason)
			}
			if !tc.problem {
				return
			}
			note := w.secret("gardenlet-kubeconfig-bootstrap").Annotations[gardenaccess.AnnotationProblem]
			if !strings.Contains(err.Error(), note) || note == "" {
				t.Errorf("%s\nthose who watch the seed must be told: got the note %q", tc.reason, note)
			}
		})
	}
}

func TestOpenCorrectsCA(t *testing.T) {
	t.Parallel()
	_, other := authority(t)
	cases := map[string]struct {
		reason    string
		published func(w *world) string
		want      func(w *world) string
	}{
		"Bundle": {
			reason:    "a bundle that fits the garden replaces the one in use",
			published: func(w *world) string { return string(w.garden.ca()) + string(encode(other)) },
			want:      func(w *world) string { return string(w.garden.ca()) + string(encode(other)) },
		},
		"DoesNotFit": {
			reason:    "a bundle that does not fit the garden would lock the gardenlet out",
			published: func(*world) string { return string(encode(other)) },
			want:      func(w *world) string { return string(w.garden.ca()) },
		},
		"Missing": {
			reason:    "without a published bundle the one in use stays",
			published: func(*world) string { return "" },
			want:      func(w *world) string { return string(w.garden.ca()) },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.bootstrapSecret(bootstrapToken)
			w.garden.published = tc.published(w)
			if _, err := w.open(); err != nil {
				t.Fatalf("%s\nOpen(...): %v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.want(w), string(w.stored().CA)); diff != "" {
				t.Errorf("%s\nstored CA (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestRotationTime(t *testing.T) {
	t.Parallel()
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	leaf := &x509.Certificate{NotBefore: begin, NotAfter: begin.Add(1000 * time.Hour)}
	cases := map[string]struct {
		reason string
		draw   float64
		want   time.Duration
	}{
		"Least":  {reason: "the smallest draw gives the lower bound", draw: 0, want: 700 * time.Hour},
		"Middle": {reason: "a draw in the middle lies in the middle", draw: 0.5, want: 800 * time.Hour},
		"Most":   {reason: "the bounds belong to the range", draw: 1, want: 900 * time.Hour},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := gardenaccess.RotationTime(leaf, 70, 90, tc.draw).Sub(begin); got != tc.want {
				t.Errorf("%s\nRotationTime(...): got %s after the begin, want %s", tc.reason, got, tc.want)
			}
		})
	}
}

func TestParseKubeconfig(t *testing.T) {
	t.Parallel()
	material := gardenaccess.Material{Server: "https://garden.example", CA: []byte("ca"), Token: bootstrapToken}
	kubeconfig, err := material.Kubeconfig()
	if err != nil {
		t.Fatalf("Kubeconfig(): %v", err)
	}
	got, err := gardenaccess.ParseKubeconfig(kubeconfig)
	if err != nil {
		t.Fatalf("ParseKubeconfig(...): %v", err)
	}
	if diff := cmp.Diff(material, got); diff != "" {
		t.Errorf("What is written is read again (-want +got):\n%s", diff)
	}
	plugin := strings.Replace(string(kubeconfig), "token: "+bootstrapToken, "exec: {apiVersion: client.authentication.k8s.io/v1, command: x, interactiveMode: Never}", 1)
	for name, input := range map[string]string{"Plugin": plugin, "Nothing": "", "Garbage": "}"} {
		if _, err := gardenaccess.ParseKubeconfig([]byte(input)); err == nil {
			t.Errorf("%s\nParseKubeconfig(...): got no error for input that cannot be used", name)
		}
	}
}
