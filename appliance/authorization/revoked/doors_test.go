// SPDX-License-Identifier: Apache-2.0

package revoked_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/terrarium-garden/terrarium/apis/revocation"
	"github.com/terrarium-garden/terrarium/appliance/authorization/revoked"
)

// TestKnown asks whether a credential of a seed that got new ones is let in: what was verified has to be new, whatever else the request has.
func TestKnown(t *testing.T) {
	t.Parallel()
	forgiven := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	before, after := forgiven.Add(-time.Hour), forgiven.Add(time.Hour)
	set := revoked.NewSet()
	object := &corev1.ConfigMap{}
	revocation.Record{Seed: "s1", CredentialsFrom: forgiven}.Encode(object)
	object.ResourceVersion = "1"
	set.Handler().OnAdd(object, false)
	set.Synced()

	const gardenlet, extension = "gardener.cloud:system:seed:s1", "system:serviceaccount:seed-s1:extension-dns"
	token := func(issued time.Time) string {
		return "e30." + base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, `{"iat":%d}`, issued.Unix())) + ".x"
	}
	protocol := func(issued time.Time) string {
		return "base64url.bearer.authorization.k8s.io." + base64.RawURLEncoding.EncodeToString([]byte(token(issued)))
	}
	type evidence struct {
		bearer, protocol, certificate time.Time
	}
	for name, tc := range map[string]struct {
		reason, who string
		has         evidence
		known       bool
	}{
		"new certificate":         {"It is what the gardenlet got.", gardenlet, evidence{certificate: after}, true},
		"old certificate":         {"It was issued before.", gardenlet, evidence{certificate: before}, false},
		"token of a gardenlet":    {"No gardenlet has one, so it says nothing.", gardenlet, evidence{bearer: after, certificate: before}, false},
		"new token":               {"It is what the extension got.", extension, evidence{bearer: after}, true},
		"old token":               {"It was issued before.", extension, evidence{bearer: before}, false},
		"new token in a protocol": {"Browsers send it so.", extension, evidence{protocol: after}, true},
		"old token in a protocol": {"It was issued before, wherever it is.", extension, evidence{protocol: before}, false},
		"made-up certificate":     {"The certificate was not verified.", extension, evidence{protocol: before, certificate: after}, false},
		"made-up token":           {"Only one of the tokens was verified.", extension, evidence{protocol: before, bearer: after}, false},
		"certificate only":        {"An account has no certificate, so its token is unknown.", extension, evidence{certificate: after}, false},
		"another user":            {"It is of no seed.", "alice", evidence{bearer: before}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
			if !tc.has.bearer.IsZero() {
				r.Header.Set("Authorization", "Bearer "+token(tc.has.bearer))
			}
			if !tc.has.protocol.IsZero() {
				r.Header.Set("Sec-Websocket-Protocol", "x, "+protocol(tc.has.protocol))
			}
			if !tc.has.certificate.IsZero() {
				r.TLS = &tls.ConnectionState{PeerCertificates: []*x509.Certificate{{NotBefore: tc.has.certificate}}}
			}
			// Authenticators remove what they have verified.
			verified := authenticator.RequestFunc(func(r *http.Request) (*authenticator.Response, bool, error) {
				r.Header = http.Header{}

				return &authenticator.Response{User: &user.DefaultInfo{Name: tc.who}}, true, nil
			})
			_, known, err := set.Known(verified, false).AuthenticateRequest(r)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.known, known); diff != "" {
				t.Errorf("%s\nlet in (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
