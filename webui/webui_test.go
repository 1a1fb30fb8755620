// SPDX-License-Identifier: Apache-2.0

package webui_test

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/terrarium-garden/terrarium/webui"
)

// build is what Vite leaves, in small.
func build() fstest.MapFS {
	return fstest.MapFS{
		".keep":                   {},
		".vite/manifest.json":     {Data: []byte("{}")},
		"index.html":              {Data: []byte(`<meta nonce="__CSP_NONCE__"><style nonce="__CSP_NONCE__"></style>`)},
		"favicon.svg":             {Data: []byte("<svg/>")},
		"assets/index-1a2b.js":    {Data: []byte("script")},
		"assets/index-1a2b.js.br": {Data: []byte("br")},
		"assets/index-1a2b.js.gz": {Data: []byte("gz")},
		"assets/inter-3c.woff2":   {Data: []byte("font")},
		"assets/index.html":       {Data: []byte("never")},
	}
}

func ask(t *testing.T, files fstest.MapFS, path string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	h, err := webui.New(files)
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody)
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)

	return w
}

func TestFiles(t *testing.T) {
	t.Parallel()
	const forever, anew = "public, max-age=31536000, immutable", "no-cache"
	type answer struct {
		Status               int
		Body, Kind, Encoding string
		Cache, NoSniff       string
	}
	for name, tc := range map[string]struct {
		reason, path, accept string
		want                 answer
	}{
		"script":      {"assets are kept forever", "/ui/assets/index-1a2b.js", "", answer{200, "script", "text/javascript; charset=utf-8", "", forever, "nosniff"}},
		"gzip":        {"and sent in a small form", "/ui/assets/index-1a2b.js", "gzip, deflate", answer{200, "gz", "text/javascript; charset=utf-8", "gzip", forever, "nosniff"}},
		"brotli":      {"the smallest that the browser knows", "/ui/assets/index-1a2b.js", "gzip, deflate, br, zstd", answer{200, "br", "text/javascript; charset=utf-8", "br", forever, "nosniff"}},
		"excluded":    {"and does not exclude", "/ui/assets/index-1a2b.js", "br; q=0, gzip;q=0.5", answer{200, "gz", "text/javascript; charset=utf-8", "gzip", forever, "nosniff"}},
		"font":        {"fonts are small already", "/ui/assets/inter-3c.woff2", "br", answer{200, "font", "font/woff2", "", forever, "nosniff"}},
		"icon":        {"files without a hash are asked for again", "/ui/favicon.svg", "br", answer{200, "<svg/>", "image/svg+xml", "", anew, "nosniff"}},
		"missing":     {"an asset of another build is not a page", "/ui/assets/index-0000.js", "", answer{404, "There is no such file. Reload the page: the server may have been updated.\n", "text/plain; charset=utf-8", "", "", "nosniff"}},
		"hidden":      {"nothing else of the build is served", "/ui/assets/index-1a2b.js.br", "", answer{404, "There is no such file. Reload the page: the server may have been updated.\n", "text/plain; charset=utf-8", "", "", "nosniff"}},
		"no page":     {"the page is where the UI has routes", "/ui/assets/index.html", "", answer{404, "There is no such file. Reload the page: the server may have been updated.\n", "text/plain; charset=utf-8", "", "", "nosniff"}},
		"not outside": {"there is no way out of the build", "/ui/assets/../../webui.go", "", answer{404, "There is no such file. Reload the page: the server may have been updated.\n", "text/plain; charset=utf-8", "", "", "nosniff"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := ask(t, build(), tc.path, "Accept-Encoding", tc.accept)
			h := w.Header()
			got := answer{w.Code, w.Body.String(), h.Get("Content-Type"), h.Get("Content-Encoding"), h.Get("Cache-Control"), h.Get("X-Content-Type-Options")}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nGET %s (-want +got):\n%s", tc.reason, tc.path, diff)
			}
		})
	}
}

func TestPage(t *testing.T) {
	t.Parallel()
	nonce := regexp.MustCompile(`style-src 'self' 'nonce-([A-Z2-7]{20,})'`)
	seen := map[string]bool{}
	for _, path := range []string{"/ui/", "/ui/index.html", "/ui/projects/garden-a/shoots/b.c", "/ui/seeds", "/ui/.keep", "/ui/.vite/manifest.json"} {
		w := ask(t, build(), path)
		found := nonce.FindStringSubmatch(w.Header().Get("Content-Security-Policy"))
		if len(found) == 0 || seen[found[1]] {
			t.Fatalf("each page has a nonce of its own; GET %s has the policy %q", path, w.Header().Get("Content-Security-Policy"))
		}
		seen[found[1]] = true
		want := strings.ReplaceAll(`<meta nonce="N"><style nonce="N"></style>`, "N", found[1])
		if diff := cmp.Diff(want, w.Body.String()); diff != "" || w.Code != http.StatusOK {
			t.Errorf("GET %s = %d (-want +got):\n%s", path, w.Code, diff)
		}
		if w.Header().Get("Cache-Control") != "no-store" || w.Header().Get("Referrer-Policy") != "no-referrer" {
			t.Errorf("the page is not kept, and tells no other site where it was; GET %s has %v", path, w.Header())
		}
	}
	if w := ask(t, build(), "/ui/assets/index-1a2b.js"); strings.Contains(w.Header().Get("Content-Security-Policy"), "nonce") {
		t.Error("what is kept has no nonce")
	}
}

func TestUnchanged(t *testing.T) {
	t.Parallel()
	tag := ask(t, build(), "/ui/favicon.svg").Header().Get("ETag")
	if w := ask(t, build(), "/ui/favicon.svg", "If-None-Match", tag); w.Code != http.StatusNotModified {
		t.Errorf("what the browser has already is not sent; got %d for tag %s", w.Code, tag)
	}
	small := ask(t, build(), "/ui/assets/index-1a2b.js", "Accept-Encoding", "br").Header().Get("ETag")
	if plain := ask(t, build(), "/ui/assets/index-1a2b.js").Header().Get("ETag"); plain == small {
		t.Errorf("two forms of a file have two tags; got %s for both", plain)
	}
}

// TestNotBuilt asks a binary that was built before the UI.
func TestNotBuilt(t *testing.T) {
	t.Parallel()
	w := ask(t, fstest.MapFS{".keep": {}}, "/ui/")
	if w.Code != http.StatusNotImplemented || !strings.Contains(w.Body.String(), "make build") {
		t.Errorf("the page says how to build the UI; got %d %s", w.Code, w.Body)
	}
}

// TestHandler serves what this test has been built with: a build, or the placeholder.
func TestHandler(t *testing.T) {
	t.Parallel()
	h, err := webui.Handler()
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/ui/", http.NoBody))
	if w.Code != http.StatusOK && w.Code != http.StatusNotImplemented {
		t.Errorf("GET /ui/ = %d", w.Code)
	}
}
