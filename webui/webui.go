// SPDX-License-Identifier: Apache-2.0

// Package webui serves the files of the web UI, which Vite builds from src and the binary contains.
//
// The files in assets have the hash of their content in their names, so browsers keep them forever. index.html answers all paths
// of the UI's own routes. Nothing of it is secret.
package webui

import (
	"crypto/rand"
	"fmt"
	"io/fs"
	"net/http"
	"strings"
	"time"
)

const (
	// prefix is the path below which the UI is served.
	prefix = "/ui/"
	// assets has the files whose names contain a hash.
	assets = "assets/"
	page   = "index.html"
	// noncePlace is replaced in the page.
	noncePlace = "__CSP_NONCE__"
)

// Handler returns the handler of the UI that the binary contains.
func Handler() (http.Handler, error) {
	files, err := built()
	if err != nil {
		return nil, fmt.Errorf("find the files of the web UI: %w", err)
	}

	return New(files)
}

// New returns a handler for the files of a build.
func New(files fs.FS) (http.Handler, error) {
	found, err := load(files)
	if err != nil {
		return nil, fmt.Errorf("load the files of the web UI: %w", err)
	}

	return found, nil
}

// ServeHTTP implements http.Handler.
func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, prefix)
	protect(w, "")
	switch file, found := s.files[name]; {
	case len(s.page) == 0:
		s.explain(w, r)
	case found:
		s.serve(w, r, file)
	case strings.HasPrefix(name, assets):
		http.Error(w, "There is no such file. Reload the page: the server may have been updated.", http.StatusNotFound)
	default:
		s.servePage(w, r)
	}
}

// servePage answers with the page, which may run the scripts of the build and have style elements with the nonce.
func (s *site) servePage(w http.ResponseWriter, r *http.Request) {
	nonce := rand.Text()
	protect(w, nonce)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	http.ServeContent(w, r, "", time.Time{}, strings.NewReader(strings.Join(s.page, nonce)))
}

// protect sets the headers that limit what the page may do, and who may show it.
func protect(w http.ResponseWriter, nonce string) {
	styles := "'self'"
	if nonce != "" {
		styles += " 'nonce-" + nonce + "'"
	}
	h := w.Header()
	h.Set("Content-Security-Policy", strings.Join([]string{
		"default-src 'none'", "script-src 'self'", "style-src " + styles, "img-src 'self' data:", "font-src 'self'", "connect-src 'self'",
		"manifest-src 'self'", "worker-src 'self'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
	}, "; "))
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
}

// explain answers if the binary has no UI.
func (s *site) explain(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusNotImplemented)
	if r.Method != http.MethodHead {
		_, _ = w.Write([]byte(notBuilt))
	}
}

const notBuilt = `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Terrarium</title></head><body>
<h1>This binary has no web UI</h1>
<p>The server works, and its API is served on this port. To build a binary with the UI, install Node 20 or newer and run
<code>make build</code>.</p>
</body></html>
`
