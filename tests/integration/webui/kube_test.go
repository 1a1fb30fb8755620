// SPDX-License-Identifier: Apache-2.0

package webui_test

import (
	"bufio"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/terrarium-garden/terrarium/tests/harness"
)

func csrf(g *harness.Garden) func(*testing.T) {
	return func(t *testing.T) {
		t.Parallel()
		b, other := open(t, g), open(t, g)
		b.signIn("code", newCode(t, g))
		other.signIn("code", newCode(t, g))
		const path, object = "/ui/kube/api/v1/namespaces/default/configmaps", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"generateName":"csrf-"}}`
		for name, tc := range map[string]struct {
			reason       string
			method, path string
			headers      []string
			status       int
			want         string
		}{
			"page":         {"pages of the garden can change things", "POST", path, nil, 201, ""},
			"old browser":  {"also in browsers that only tell the origin", "POST", path, []string{"Sec-Fetch-Site", ""}, 201, ""},
			"no secret":    {"a cookie alone changes nothing", "POST", path, []string{"X-CSRF-Token", ""}, 403, "WrongCSRFToken"},
			"wrong secret": {"nor does a guess", "POST", path, []string{"X-CSRF-Token", "x" + b.csrf[1:]}, 403, "WrongCSRFToken"},
			"other secret": {"nor the secret of another session", "POST", path, []string{"X-CSRF-Token", other.csrf}, 403, "WrongCSRFToken"},
			"cross-site":   {"the secret does not help other sites", "POST", path, []string{"Sec-Fetch-Site", "cross-site"}, 403, "CrossSite"},
			"other port":   {"nor other ports", "POST", path, []string{"Sec-Fetch-Site", "same-site"}, 403, "CrossSite"},
			"typed":        {"nothing is changed from the address bar", "POST", path, []string{"Sec-Fetch-Site", "none"}, 403, "CrossSite"},
			"origin":       {"nor from another origin", "POST", path, []string{"Sec-Fetch-Site", "", "Origin", "https://127.0.0.1"}, 403, "CrossSite"},
			"null":         {"nor from one that hides", "POST", path, []string{"Sec-Fetch-Site", "", "Origin", "null"}, 403, "CrossSite"},
			"nowhere":      {"nor by what is no browser", "POST", path, []string{"Sec-Fetch-Site", "", "Origin", ""}, 403, "CrossSite"},
			"delete":       {"all methods that change something count", "DELETE", path + "/none", []string{"X-CSRF-Token", ""}, 403, "WrongCSRFToken"},
			"patch":        {"all methods that change something count", "PATCH", path + "/none", []string{"X-CSRF-Token", ""}, 403, "WrongCSRFToken"},
			"put":          {"all methods that change something count", "PUT", path + "/none", []string{"X-CSRF-Token", ""}, 403, "WrongCSRFToken"},
			"read":         {"reading needs no secret", "GET", path, nil, 200, ""},
			"read typed":   {"and is possible from the address bar", "GET", path, []string{"Sec-Fetch-Site", "none"}, 200, ""},
			"read across":  {"but not for other sites", "GET", path, []string{"Sec-Fetch-Site", "cross-site"}, 403, "CrossSite"},
			"trace":        {"unusual methods are not for sessions", "TRACE", path, nil, 401, "Unauthorized"},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				body := object
				if tc.method == http.MethodGet {
					body = ""
				}
				got := b.do(tc.method, tc.path, body, tc.headers...)
				if got.status != tc.status || got.reason() != tc.want {
					t.Errorf("%s\n%s %v = %d %.200s, want %d %s", tc.reason, tc.method, tc.headers, got.status, got.body, tc.status, tc.want)
				}
			})
		}
	}
}

// smuggling adds credentials to requests of a session, which is that of a user with few permissions.
func smuggling(g *harness.Garden) func(*testing.T) {
	return func(t *testing.T) {
		t.Parallel()
		weak := token(t, g, "weak")
		_, strong := account(t, g, "strong")
		admin, err := tls.X509KeyPair(g.Config.CertData, g.Config.KeyData)
		if err != nil {
			t.Fatal(err)
		}
		const want = "system:serviceaccount:garden:weak"
		for name, tc := range map[string]struct {
			reason       string
			certificates []tls.Certificate
			headers      []string
		}{
			"nothing":     {"the session says who asks", nil, nil},
			"token":       {"not the header", nil, []string{"Authorization", "Bearer " + strong}},
			"impersonate": {"and nobody acts as another", nil, []string{"Impersonate-User", "admin", "Impersonate-Group", "system:masters"}},
			"proxy":       {"headers of proxies are left out", nil, []string{"X-Remote-User", "admin", "X-Remote-Group", "system:masters"}},
			"websocket": {"so is a token in the protocol", nil, []string{
				"Sec-WebSocket-Protocol", "base64url.bearer.authorization.k8s.io." + base64.RawURLEncoding.EncodeToString([]byte(strong)),
			}},
			"certificate": {"and the certificate of the browser", []tls.Certificate{admin}, nil},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				b := open(t, g, tc.certificates...)
				b.signIn("token", weak)
				if diff := cmp.Diff(want, b.whoAmI(tc.headers...)); diff != "" {
					t.Errorf("%s\nuser (-want +got):\n%s", tc.reason, diff)
				}
			})
		}
	}
}

func paths(g *harness.Garden) func(*testing.T) {
	return func(t *testing.T) {
		t.Parallel()
		b := open(t, g)
		b.signIn("code", newCode(t, g))
		for path, status := range map[string]int{
			"/ui/kube/api/v1/namespaces": 200,
			"/ui/kube/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Abasic-user": 200,
			"/ui/kube/version":                         200,
			"/ui/kube/api/":                            200,
			"/ui/kube/../api/v1/namespaces":            400,
			"/ui/kube/api/../api/v1/namespaces":        400,
			"/ui/kube/%2e%2e/api/v1/namespaces":        400,
			"/ui/kube//api/v1/namespaces":              400,
			"/ui/kube/api//v1/namespaces":              400,
			"/ui/kube/api/v1/namespaces/a%2f..%2fb":    400,
			"/ui/kube/api/v1/namespaces/a%5cb":         400,
			"/ui/kube/api/v1/namespaces/a%00b":         400,
			"/ui/kube/ui/kube/api":                     404,
			"/ui/kube/debug/resource-dependency-graph": 404,
			"/ui/kube/": 404,
			"/ui/kube":  501, // A page of the UI, which this binary does not have.
		} {
			r := b.request(t.Context(), http.MethodGet, path, "")
			if got := b.send(r); got.status != status && (status != 501 || got.status != 200) {
				t.Errorf("GET %s = %d %.200s, want %d", path, got.status, got.body, status)
			}
		}
		got := b.do(http.MethodGet, "/ui/kube/api/v1/namespaces", "")
		for name, want := range map[string]string{
			"X-Content-Type-Options":  "nosniff",
			"Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
		} {
			if diff := cmp.Diff(want, got.header.Get(name)); diff != "" {
				t.Errorf("what users wrote is no page of this site; header %s (-want +got):\n%s", name, diff)
			}
		}
	}
}

// cookieAlone uses the cookie on the paths of the API itself.
func cookieAlone(g *harness.Garden) func(*testing.T) {
	return func(t *testing.T) {
		t.Parallel()
		b := open(t, g)
		b.signIn("code", newCode(t, g))
		for _, path := range []string{"/api/v1/namespaces", "/apis", "/metrics", "/appliance/status"} {
			if got := b.do(http.MethodGet, path, ""); got.status != http.StatusUnauthorized {
				t.Errorf("the API does not accept cookies; GET %s = %d %.200s", path, got.status, got.body)
			}
		}
	}
}

// watching starts a watch and returns what it reads, and a channel that is closed when the watch ends.
func watching(t *testing.T, b *browser, path string) (events *bufio.Scanner, ended func() bool) {
	t.Helper()
	response, err := b.Do(b.request(t.Context(), http.MethodGet, path, ""))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = response.Body.Close() })
	if response.StatusCode != http.StatusOK {
		t.Fatalf("watch %s: got %d", path, response.StatusCode)
	}
	if response.ProtoMajor != 2 {
		t.Errorf("browsers use HTTP/2, where watches do not use up connections; got %s", response.Proto)
	}
	events = bufio.NewScanner(response.Body)

	return events, func() bool {
		done := make(chan bool)
		go func() {
			defer close(done)
			for events.Scan() {
			}
		}()
		select {
		case <-done:
			return true
		case <-time.After(harness.Patience):
			return false
		}
	}
}

func watch(g *harness.Garden) func(*testing.T) {
	return func(t *testing.T) {
		t.Parallel()
		b := open(t, g)
		b.signIn("code", newCode(t, g))
		events, ended := watching(t, b, "/ui/kube/api/v1/namespaces/default/configmaps?watch=1&fieldSelector=metadata.name%3Dseen")
		if err := g.Client.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "seen"}}); err != nil {
			t.Fatal(err)
		}
		event := metav1.WatchEvent{}
		if !events.Scan() || json.Unmarshal(events.Bytes(), &event) != nil || event.Type != "ADDED" {
			t.Fatalf("events come as they happen; got %q, %v", events.Text(), events.Err())
		}
		if got := b.do(http.MethodDelete, "/ui/session", ""); got.status != http.StatusNoContent {
			t.Fatalf("sign out: got %d %s", got.status, got.body)
		}
		if !ended() {
			t.Error("who signs out sees nothing more")
		}
	}
}

// revoked deletes the owner of a session's token.
func revoked(g *harness.Garden) func(*testing.T) {
	return func(t *testing.T) {
		t.Parallel()
		owner, secret := account(t, g, "revoked")
		b := open(t, g)
		b.signIn("token", secret)
		_, ended := watching(t, b, "/ui/kube/api/v1/namespaces?watch=1")
		if err := g.Client.Delete(t.Context(), owner); err != nil {
			t.Fatal(err)
		}
		harness.Eventually(t, "the API refuses the token", b.refusedBy)
		if got := b.do(http.MethodGet, "/ui/session", ""); got.reason() != "NoSession" {
			t.Errorf("then the session ends; got %d %s", got.status, got.body)
		}
		if !ended() {
			t.Error("and so do its watches")
		}
	}
}

// noSecretsInLog looks for what signs somebody in.
func noSecretsInLog(g *harness.Garden) func(*testing.T) {
	return func(t *testing.T) {
		t.Parallel()
		_, secret := account(t, g, "logged")
		code := newCode(t, g)
		b, c := open(t, g), open(t, g)
		b.signIn("code", code)
		c.signIn("token", secret)
		value := b.cookie()
		b.whoAmI()
		c.do(http.MethodPost, "/ui/session", `{"token":"`+secret+`x"}`)
		b.do(http.MethodDelete, "/ui/session", "")
		log := g.Log()
		if !strings.Contains(log, "Signed in to the web UI") || !strings.Contains(log, "system:serviceaccount:garden:logged") {
			t.Errorf("who signs in is in the log:\n%s", log)
		}
		for name, hidden := range map[string]string{
			"code": code, "token": secret, "signature": secret[strings.LastIndex(secret, ".")+1:], "cookie": value, "secret of pages": b.csrf,
		} {
			if strings.Contains(log, hidden) {
				t.Errorf("the %s is in the log:\n%s", name, log)
			}
		}
	}
}
