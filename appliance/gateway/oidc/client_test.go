// SPDX-License-Identifier: Apache-2.0

package oidc_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/terrarium-garden/terrarium/appliance/gateway/oidc"
)

// client is that of an issuer with this document and answer to requests for tokens; SELF stands for the URL of the issuer.
func client(t *testing.T, document string, token http.HandlerFunc) (*oidc.Client, *clocktesting.FakePassiveClock) {
	t.Helper()
	mux := http.NewServeMux()
	server := httptest.NewTLSServer(mux)
	t.Cleanup(server.Close)
	mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprint(w, strings.ReplaceAll(document, "SELF", server.URL))
	})
	mux.HandleFunc("/token", token)
	clk := clocktesting.NewFakePassiveClock(time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC))

	return oidc.New(oidc.Config{
		Issuer: server.URL, ClientID: "garden", ClientSecret: "secret", Scopes: []string{"openid"}, Transport: server.Client().Transport, Clock: clk,
	}), clk
}

const good = `{"issuer":"SELF","authorization_endpoint":"SELF/authorize","token_endpoint":"SELF/token"}`

func TestBegin(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason, document string
		want             error
	}{
		"good":     {"An issuer with its addresses is enough.", good, nil},
		"somebody": {"The document must be that of the issuer.", strings.Replace(good, "SELF", "https://other.example", 1), oidc.ErrUnavailable},
		"plain":    {"Codes are not sent in the clear.", strings.Replace(good, "SELF/token", "http://id.example/token", 1), oidc.ErrUnavailable},
		"nowhere":  {"People cannot be sent to nowhere.", `{"issuer":"SELF","token_endpoint":"SELF/token"}`, oidc.ErrUnavailable},
		"a page":   {"A page is no document.", "<html>", oidc.ErrUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, _ := client(t, tc.document, http.NotFound)
			a, target, err := c.Begin(t.Context(), "https://garden.example/back", "/seeds")
			if diff := cmp.Diff(tc.want, err, cmpopts.EquateErrors()); diff != "" {
				t.Fatalf("%s\nerror of Begin(...) (-want +got):\n%s", tc.reason, diff)
			}
			if err != nil {
				return
			}
			u, err := url.Parse(target)
			if err != nil {
				t.Fatal(err)
			}
			got := map[string][]string{}
			for _, name := range []string{"state", "nonce", "code_challenge_method"} {
				got[name] = u.Query()[name]
			}
			want := map[string][]string{"state": {a.State}, "nonce": {a.Nonce}, "code_challenge_method": {"S256"}}
			if diff := cmp.Diff(want, got); diff != "" || strings.Contains(target, a.Verifier) {
				t.Errorf("The issuer gets the state, the nonce and the hash of the verifier; got %s (-want +got):\n%s", target, diff)
			}
		})
	}
}

func TestFinish(t *testing.T) {
	t.Parallel()
	refuse := func(status int) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			http.Error(w, `{"error":"invalid_grant","error_description":"`+r.FormValue("code")+`"}`, status)
		}
	}
	for name, tc := range map[string]struct {
		reason string
		token  http.HandlerFunc
		late   time.Duration
		want   error
	}{
		"refused":   {reason: "A refusal is one.", token: refuse(http.StatusBadRequest), want: oidc.ErrRefused},
		"broken":    {reason: "An error of the issuer is none.", token: refuse(http.StatusBadGateway), want: oidc.ErrUnavailable},
		"elsewhere": {reason: "A code is not sent on to other addresses.", token: http.RedirectHandler("https://evil.example/", http.StatusTemporaryRedirect).ServeHTTP, want: oidc.ErrRefused},
		"late":      {reason: "The secrets of a sign-in are valid for ten minutes.", token: refuse(http.StatusBadGateway), late: 10 * time.Minute, want: oidc.ErrRefused},
		"no token": {reason: "An access token says nothing about the user.", token: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprint(w, `{"access_token":"a","token_type":"Bearer"}`)
		}, want: oidc.ErrRefused},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, clk := client(t, good, tc.token)
			a, _, err := c.Begin(t.Context(), "https://garden.example/back", "")
			if err != nil {
				t.Fatal(err)
			}
			clk.SetTime(clk.Now().Add(tc.late))
			_, err = c.Finish(t.Context(), a, "the-code")
			if diff := cmp.Diff(tc.want, err, cmpopts.EquateErrors()); diff != "" {
				t.Errorf("%s\nerror of Finish(...) (-want +got):\n%s", tc.reason, diff)
			}
			if err != nil && strings.Contains(err.Error(), "the-code") {
				t.Errorf("Errors do not contain codes: %v", err)
			}
		})
	}
}
