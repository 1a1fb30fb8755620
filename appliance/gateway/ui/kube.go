// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/terrarium-garden/terrarium/appliance/gateway/session"
)

// kubeRoots returns the first segments of the paths that pages can request.
func kubeRoots() []string {
	return []string{"api", "apis", "openapi", "version", "readyz", "livez", "healthz", "metrics", "appliance"}
}

// kube passes a request on to the API.
func (s *site) kube(api http.Handler, w http.ResponseWriter, r *http.Request) {
	found := s.guard(w, r)
	if found == nil {
		return
	}
	target, refused := kubeTarget(r.URL)
	if refused != "" {
		refused.write(w)

		return
	}
	s.pass(api, w, r, found, target)
}

// status passes a request on to the status of the server.
func (s *site) status(api http.Handler, w http.ResponseWriter, r *http.Request) {
	if found := s.guard(w, r); found != nil {
		s.pass(api, w, r, found, &url.URL{Path: StatusPath})
	}
}

// pass serves a request by the API, with the credential of the session. The request ends with the session, and the session ends
// if the API does not accept its credential.
func (s *site) pass(api http.Handler, w http.ResponseWriter, r *http.Request, with *session.Session, target *url.URL) {
	s.use(w, r, with, func(r *http.Request) {
		in := inside(r.Context(), r, with.Credential(), target)
		want, err := requestedFields(r.Header.Get(fieldsHeader), in, s.Verb)
		if err != nil {
			malformed.write(w)

			return
		}
		protect(w)
		w.Header().Del("Cache-Control") // The API sets its own.
		out := &watched{ResponseWriter: w}
		if want.object == nil {
			api.ServeHTTP(out, in)
		} else {
			less := prune(out, in, want)
			api.ServeHTTP(less, in)
			less.finish()
		}
		if out.refused {
			s.end(with) // Not earlier: it would end this request as well.
		}
	})
}

// kubeTarget returns the path of the API from that of a page's request. The path must be in its canonical form, so that everything
// that looks at it sees the same one.
func kubeTarget(from *url.URL) (*url.URL, refusal) {
	target := strings.TrimPrefix(from.Path, kubePath)
	escaped := strings.ToLower(from.EscapedPath())
	if path.Clean(target) != strings.TrimSuffix(target, "/") && target != "/" {
		return nil, malformed
	}
	if strings.Contains(escaped, "%2f") || strings.Contains(escaped, "%5c") || strings.ContainsFunc(target, control) {
		return nil, malformed
	}
	root, _, _ := strings.Cut(strings.TrimPrefix(target, "/"), "/")
	if !slices.Contains(kubeRoots(), root) {
		return nil, noSuchPath
	}

	return &url.URL{Path: target, RawQuery: from.RawQuery}, ""
}

func control(r rune) bool { return r < ' ' || r == 0x7f }

// watched is a response that knows whether the API accepts the credential. It streams if the response below does, and offers
// no way to take over the connection.
type watched struct {
	http.ResponseWriter

	refused bool
}

// WriteHeader implements http.ResponseWriter.
func (w *watched) WriteHeader(status int) {
	if status == http.StatusUnauthorized {
		w.refused = true
		setCookie(w, "")
	}
	w.ResponseWriter.WriteHeader(status)
}

// Flush implements http.Flusher.
func (w *watched) Flush() {
	if flusher, ok := w.ResponseWriter.(http.Flusher); ok {
		flusher.Flush()
	}
}

// CloseNotify is what the API server recognizes a response by that streams.
func (w *watched) CloseNotify() <-chan bool {
	if notifier, ok := w.ResponseWriter.(interface{ CloseNotify() <-chan bool }); ok {
		return notifier.CloseNotify()
	}

	return nil
}

// Unwrap returns the response below, for http.ResponseController.
func (w *watched) Unwrap() http.ResponseWriter { return w.ResponseWriter }
