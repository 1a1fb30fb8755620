// SPDX-License-Identifier: Apache-2.0

package repository_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	gardencorev1 "github.com/terrarium-garden/terrarium/apis/core/v1"
	"github.com/terrarium-garden/terrarium/controllers/chart/repository"
)

// password is never to be told.
const password = "open-sesame"

// TestAuthorities_EXT_REG_7 reaches a registry with TLS.
func TestAuthorities_EXT_REG_7(t *testing.T) {
	t.Parallel()
	secure, plain := open(t, httptest.NewTLSServer), open(t, httptest.NewServer)
	secure.push("v1", layer("chart"))
	plain.push("v1", layer("chart"))
	from := func(s *store, authorities []byte) repository.Source {
		source := s.at("v1")
		source.Authorities = authorities
		return source
	}
	if got, err := new(repository.Charts).Pull(t.Context(), from(secure, secure.authority())); err != nil || string(got) != "chart" {
		t.Errorf("Pull(...) with the certificate of the registry: got %q, error %v", got, err)
	}
	_, err := new(repository.Charts).Pull(t.Context(), from(secure, []byte("no certificate")))
	refused(t, "a Secret without certificates is not the same as no Secret", err, "has no certificate in PEM")
	_, err = new(repository.Charts).Pull(t.Context(), from(secure, nil))
	refused(t, "the authorities of the system do not know it", err, "name it in caBundleSecretRef")
	_, err = new(repository.Charts).Pull(t.Context(), from(plain, secure.authority()))
	refused(t, "a registry with authorities is not asked without TLS", err, "does not offer TLS")
	if questions := plain.questions(); questions != nil {
		t.Errorf("the registry without TLS was asked %v", questions)
	}
}

// guarded lets a registry answer only those with the password. It repeats what it was sent.
func (s *store) guarded(challenge, want string) {
	s.answer(func(w http.ResponseWriter, r *http.Request) bool {
		if got := r.Header.Get("Authorization"); got != want {
			w.Header().Set("WWW-Authenticate", challenge)
			http.Error(w, `{"errors":[{"code":"UNAUTHORIZED","message":"`+got+` `+password+`"}]}`, http.StatusUnauthorized)
			return true
		}
		return false
	})
}

// TestCredentials_EXT_REG_7 pulls from a registry that wants a name and a password.
func TestCredentials_EXT_REG_7(t *testing.T) {
	t.Parallel()
	s := open(t, httptest.NewServer)
	s.push("v1", layer("chart"))
	s.guarded(`Basic realm="charts"`, "Basic YWxpOm9wZW4tc2VzYW1l")
	cases := map[string]struct {
		reason      string
		credentials []byte
		want        string
	}{
		"Registry":     {reason: "the key is the registry", credentials: docker(t, s.host, password)},
		"URL":          {reason: "docker writes URLs", credentials: docker(t, "https://"+s.host+"/v1/", password)},
		"Path":         {reason: "the key may have the beginning of a path", credentials: docker(t, s.host+"/charts", password)},
		"Fields":       {reason: "name and password may be fields", credentials: dockerOf(t, s.host, map[string]string{"username": "ali", "password": password})},
		"Longest":      {reason: "the longest key that fits counts", credentials: bytes.Replace(docker(t, s.host+"/charts/demo", password), []byte("elsewhere.example.org"), []byte("https://"+s.host), 1)},
		"Wrong":        {reason: "the registry refuses others", credentials: docker(t, s.host, "wrong"), want: "refuses the credentials of the pull Secret"},
		"None":         {reason: "somebody has to be named", want: "name a Secret with credentials in pullSecretRef"},
		"Elsewhere":    {reason: "credentials of others are not sent", credentials: docker(t, "example.org", password), want: "has no credentials for registry"},
		"OtherPath":    {reason: "nor those of another path", credentials: docker(t, s.host+"/char", password), want: "has no credentials for registry"},
		"NoJSON":       {reason: "the Secret has to be a configuration", credentials: []byte(password), want: "no configuration of docker"},
		"NoAuth":       {reason: "what is in it, too", credentials: dockerOf(t, s.host, map[string]string{"auth": password}), want: "no configuration of docker"},
		"EmptySecret":  {reason: "an empty Secret is not the same as no Secret", credentials: []byte{}, want: "no configuration of docker"},
		"NoAuthsAtAll": {reason: "a configuration without credentials has none", credentials: []byte(`{}`), want: "has no credentials for registry"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			source := s.at("v1")
			source.Credentials = tc.credentials
			got, err := new(repository.Charts).Pull(t.Context(), source)
			if tc.want != "" {
				refused(t, tc.reason, err, tc.want, password, "YWxp")
				return
			}
			if err != nil || string(got) != "chart" {
				t.Errorf("%s\nPull(...): got %q, error %v", tc.reason, got, err)
			}
		})
	}
}

// TestToken_EXT_REG_7 pulls from a registry that wants a token, which is got for name and password.
func TestToken_EXT_REG_7(t *testing.T) {
	t.Parallel()
	s := open(t, httptest.NewServer)
	s.push("v1", layer("chart"))
	asked := make(chan string, 10)
	issuer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, given, _ := r.BasicAuth()
		asked <- user + " " + given + " " + r.URL.Query().Get("scope")
		_, _ = w.Write([]byte(`{"token":"ticket"}`))
	}))
	t.Cleanup(issuer.Close)
	realm := strings.Replace(issuer.URL, "127.0.0.1", "localhost", 1)
	s.guarded(`Bearer realm="`+realm+`",service="charts"`, "Bearer ticket")
	source := s.at("v1")
	source.Credentials = docker(t, s.host, password)
	if got, err := new(repository.Charts).Pull(t.Context(), source); err != nil || string(got) != "chart" {
		t.Fatalf("Pull(...): got %q, error %v", got, err)
	}
	if diff := cmp.Diff("ali "+password+" repository:charts/demo:pull", <-asked); diff != "" {
		t.Errorf("what the issuer of tokens was asked (-want +got):\n%s", diff)
	}
}

// TestRedirects_EXT_REG_7 follows a registry to another host, but not with credentials.
func TestRedirects_EXT_REG_7(t *testing.T) {
	t.Parallel()
	s := open(t, httptest.NewServer)
	s.push("v1", layer("chart"))
	asked := make(chan *http.Request, 10)
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r
		_, _ = w.Write([]byte("chart"))
	}))
	t.Cleanup(elsewhere.Close)
	there := strings.Replace(elsewhere.URL, "127.0.0.1", "localhost", 1)
	source := s.at("v1")

	source.Credentials = docker(t, s.host, password)
	s.guarded(`Basic realm="charts"`, "Basic YWxpOm9wZW4tc2VzYW1l")
	inner := s.Answer(nil)
	s.answer(func(w http.ResponseWriter, r *http.Request) bool {
		if strings.Contains(r.URL.Path, "/blobs/") {
			http.Redirect(w, r, there+"/somewhere", http.StatusTemporaryRedirect)
			return true
		}
		return inner(w, r)
	})
	if got, err := new(repository.Charts).Pull(t.Context(), source); err != nil || string(got) != "chart" {
		t.Fatalf("Pull(...) of a layer that is elsewhere: got %q, error %v", got, err)
	}
	if r := <-asked; r.Header.Get("Authorization") != "" {
		t.Errorf("the other host was sent %v", r.Header)
	}

	source.Credentials = dockerOf(t, s.host, map[string]string{"identitytoken": password})
	s.answer(func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/token" {
			http.Redirect(w, r, there, http.StatusTemporaryRedirect)
			return true
		}
		w.Header().Set("WWW-Authenticate", `Bearer realm="http://`+s.host+`/token",service="charts"`)
		w.WriteHeader(http.StatusUnauthorized)
		return true
	})
	_, err := new(repository.Charts).Pull(t.Context(), source)
	refused(t, "the credentials in the body of a request stay, too", err, "refers to a place that is not trusted", password)
	if len(asked) != 0 {
		t.Error("the other host was asked for a token, with the credentials for the first one")
	}
}

// TestLeavesTLS_EXT_REG_7 is sent from a registry with TLS to a host without.
func TestLeavesTLS_EXT_REG_7(t *testing.T) {
	t.Parallel()
	s := open(t, httptest.NewTLSServer)
	s.push("v1", layer("chart"))
	elsewhere := open(t, httptest.NewServer)
	source := s.at("v1")
	source.Authorities = s.authority()
	s.answer(func(w http.ResponseWriter, r *http.Request) bool {
		http.Redirect(w, r, elsewhere.server.URL+r.URL.Path+"?signature="+password, http.StatusTemporaryRedirect)
		return true
	})
	_, err := new(repository.Charts).Pull(t.Context(), source)
	refused(t, "a registry cannot make the client ask something on this machine without TLS", err, "refers to a place that is not trusted", password)
	if asked := elsewhere.Asked(); len(asked) != 0 {
		t.Errorf("the other host was asked %v", asked)
	}
}

// TestHostile_EXT_REG_7 pulls from a registry that sends something else than what it should.
func TestHostile_EXT_REG_7(t *testing.T) {
	t.Parallel()
	s := open(t, httptest.NewServer)
	digest := s.push("v1", layer("chart"))
	endless := func(w http.ResponseWriter, _ *http.Request) {
		for range 2 * repository.MaxChart / 1024 {
			if _, err := w.Write(make([]byte, 1024)); err != nil {
				return
			}
		}
	}
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { http.Error(w, password, code) }
	}
	says := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(text)) }
	}
	cases := map[string]struct {
		reason string
		part   string
		answer http.HandlerFunc
		want   string
	}{
		"OtherManifest":   {reason: "the manifest has the digest", part: "/manifests/", answer: says(`{"schemaVersion":2,"layers":[]}`), want: "another digest"},
		"OtherLayer":      {reason: "the layer has the digest of the manifest", part: "/blobs/", answer: says("CHART"), want: "another digest"},
		"LongerLayer":     {reason: "it does not go on after that", part: "/blobs/", answer: says("chart and more"), want: "another digest"},
		"EndlessManifest": {reason: "no answer is endless", part: "/manifests/", answer: endless, want: "larger than 10 MiB"},
		"EndlessLayer":    {reason: "not even what is said to be small", part: "/blobs/", answer: endless, want: "larger than 10 MiB"},
		"EndlessGreeting": {reason: "nor the first one", part: "/v2/", answer: endless, want: "larger than 10 MiB"},
		"Missing":         {reason: "what is missing is told", part: "/manifests/", answer: status(http.StatusNotFound), want: "does not have it"},
		"Denied":          {reason: "what is denied may need credentials", part: "/manifests/", answer: status(http.StatusForbidden), want: "pullSecretRef"},
		"Limited":         {reason: "what to do about limits is told", part: "/manifests/", answer: status(http.StatusTooManyRequests), want: "give the digest"},
		"Broken":          {reason: "a failure is told without its text", part: "/v2/", answer: status(http.StatusServiceUnavailable), want: "status 503"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// A registry of its own, because answers differ.
			front := open(t, httptest.NewServer)
			front.answer(func(w http.ResponseWriter, r *http.Request) bool {
				if strings.Contains(r.URL.Path, tc.part) {
					tc.answer(w, r)
				} else {
					s.server.Config.Handler.ServeHTTP(w, r)
				}
				return true
			})
			_, err := new(repository.Charts).Pull(t.Context(), repository.Source{Repository: gardencorev1.OCIRepository{Ref: new(front.host + "/charts/demo@" + digest)}})
			refused(t, tc.reason, err, tc.want, password)
		})
	}
}
