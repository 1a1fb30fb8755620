// SPDX-License-Identifier: Apache-2.0

package gateway_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terrarium-garden/terrarium/appliance/gateway"
)

// says answers with a word, and with the body that it read.
func says(word string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if tooLarge, is := errors.AsType[*http.MaxBytesError](err); is {
			http.Error(w, tooLarge.Error(), http.StatusRequestEntityTooLarge)

			return
		}
		io.WriteString(w, word+string(body)) //nolint:errcheck // a recorder takes everything
	})
}

func ask(t *testing.T, h http.Handler, method, path, body string) string {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body)))
	if w.Code != http.StatusOK {
		return http.StatusText(w.Code)
	}

	return w.Body.String()
}

func TestBefore(t *testing.T) {
	t.Parallel()
	mounts := gateway.Mounts{
		{Path: "/page", Who: gateway.Everybody, Handler: says("page")},
		{Path: "/ui/", Who: gateway.Everybody, Handler: says("ui")},
		{Path: "/ui/form/", Who: gateway.Everybody, Handler: says("form"), Limits: gateway.Limits{Methods: []string{http.MethodPost}, Body: 4}},
		{Path: "/debug", Who: gateway.Authorized, Handler: says("debug")},
	}
	if err := mounts.Check(); err != nil {
		t.Fatal(err)
	}
	public, inner := mounts.Before(gateway.Everybody, says("api")), mounts.Before(gateway.Authorized, says("api"))
	for name, tc := range map[string]struct {
		reason             string
		handler            http.Handler
		method, path, body string
		want               string
	}{
		"mounted":      {"what is mounted answers", public, "GET", "/page", "", "page"},
		"other path":   {"everything else is the API", public, "GET", "/page/2", "", "api"},
		"below":        {"a path with a slash at its end serves all below", public, "GET", "/ui/a/b", "", "ui"},
		"not below":    {"which a path of the same beginning is not", public, "GET", "/uiet", "", "api"},
		"longest":      {"the longest path wins", public, "POST", "/ui/form/x", "1234", "form1234"},
		"other method": {"what a mount for everybody does not answer is the API's", public, "POST", "/page", "", "api"},
		"large":        {"bodies have a bound", public, "POST", "/ui/form/x", "12345", "Request Entity Too Large"},
		"no body":      {"a page reads none", public, "GET", "/page", "x", "Request Entity Too Large"},
		"not public":   {"what is for those who are permitted is not served to everybody", public, "GET", "/debug", "", "api"},
		"permitted":    {"but behind the checks of the API server", inner, "GET", "/debug", "", "debug"},
		"not allowed":  {"who is permitted is told what is allowed", inner, "POST", "/debug", "", "Method Not Allowed"},
		"public again": {"where nothing else is", inner, "GET", "/page", "", "api"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := ask(t, tc.handler, tc.method, tc.path, tc.body); got != tc.want {
				t.Errorf("%s\n%s %s = %q, want %q", tc.reason, tc.method, tc.path, got, tc.want)
			}
		})
	}
}

// TestParallel fills the one place that a mount has.
func TestParallel(t *testing.T) {
	t.Parallel()
	entered, leave := make(chan struct{}), make(chan struct{})
	slow := gateway.Mounts{{
		Path: "/slow", Who: gateway.Everybody, Limits: gateway.Limits{Parallel: 1},
		Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			entered <- struct{}{}
			<-leave
		}),
	}}.Before(gateway.Everybody, says("api"))
	first := make(chan string)
	go func() { first <- ask(t, slow, "GET", "/slow", "") }()
	<-entered
	if got := ask(t, slow, "GET", "/slow", ""); got != "Too Many Requests" {
		t.Errorf("one more than there are places is told to come back, got %q", got)
	}
	leave <- struct{}{}
	if got := <-first; got != "" {
		t.Errorf("the one that was let in is answered, got %q", got)
	}
	go func() { first <- ask(t, slow, "GET", "/slow", "") }()
	<-entered
	leave <- struct{}{}
	if got := <-first; got != "" {
		t.Errorf("its place is free again, got %q", got)
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		mounts gateway.Mounts
		want   string
	}{
		"twice":   {"one of two could not be reached", gateway.Mounts{gateway.Document("/a", "", nil), gateway.Document("/a", "", nil)}, `mount "/a": duplicate path`},
		"unclean": {"nobody asks for such a path", gateway.Mounts{gateway.Document("a//b", "", nil)}, `mount "a//b": not a clean absolute path below the root`},
		"page":    {"pages are for everybody", gateway.Mounts{{Path: "/", Who: gateway.Authorized, Handler: says(""), Pages: true}}, `mount "/": Pages are for Everybody`},
		"both": {"a mount has one handler", gateway.Mounts{{
			Path: "/a", Who: gateway.Everybody, Handler: says(""), Over: func(api http.Handler) http.Handler { return api },
		}}, `mount "/a": Who and either Handler or Over must be set`},
		"root":   {"the API would have nothing left", gateway.Mounts{gateway.Document("/", "", nil)}, `mount "/": not a clean absolute path below the root`},
		"api":    {"the API would lose a group", gateway.Mounts{gateway.Document("/apis/x", "", nil)}, `mount "/apis/x": the path belongs to the API`},
		"nobody": {"who may ask is never left open", gateway.Mounts{{Path: "/a", Handler: says("")}}, `mount "/a": Who and either Handler or Over must be set`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := tc.mounts.Check()
			if err == nil {
				t.Fatalf("%s\nCheck(): got no error", tc.reason)
			}
			if diff := cmp.Diff(tc.want, err.Error()); diff != "" {
				t.Errorf("%s\nCheck() (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestPages passes on what is not for a browser's page.
func TestPages(t *testing.T) {
	t.Parallel()
	mounts := gateway.Mounts{{Path: "/", Who: gateway.Everybody, Handler: says("page"), Pages: true}}
	if err := mounts.Check(); err != nil {
		t.Fatal(err)
	}
	h := mounts.Before(gateway.Everybody, says("api"))
	for name, tc := range map[string]struct {
		reason, path, accept, credential string
		want                             string
	}{
		"browser": {"browsers accept HTML", "/", "text/html, */*", "", "page"},
		"client":  {"clients of the API do not", "/", "application/json, */*", "", "api"},
		"known":   {"a request with a credential is one of a client", "/", "text/html", "Bearer x", "api"},
		"below":   {"the root does not include what is below", "/api", "text/html", "", "api"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, tc.path, http.NoBody)
			r.Header.Set("Accept", tc.accept)
			r.Header.Set("Authorization", tc.credential)
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if diff := cmp.Diff(tc.want, w.Body.String()); diff != "" {
				t.Errorf("%s\nGET %s (-want +got):\n%s", tc.reason, tc.path, diff)
			}
		})
	}
}

// TestOver gives the API to a mount that is made over it.
func TestOver(t *testing.T) {
	t.Parallel()
	h := gateway.Mounts{{Path: "/ui/", Who: gateway.Everybody, Over: func(api http.Handler) http.Handler { return http.StripPrefix("/ui", api) }}}.
		Before(gateway.Everybody, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, r.URL.Path) //nolint:errcheck // a recorder takes everything
		}))
	if diff := cmp.Diff("/apis", ask(t, h, "GET", "/ui/apis", "")); diff != "" {
		t.Errorf("a mount reaches the API (-want +got):\n%s", diff)
	}
}
