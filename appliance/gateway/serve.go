// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Before returns a handler that serves the mounts for who, and passes other requests to next. If several paths match, the longest
// one is used.
func (m Mounts) Before(who Who, next http.Handler) http.Handler {
	exact, below := map[string]*served{}, []*served{}
	for _, at := range m {
		if at.Who != who {
			continue
		}
		s := newServed(at, next)
		exact[at.Path] = s
		if strings.HasSuffix(at.Path, "/") && at.Path != "/" {
			below = append(below, s)
		}
	}
	if len(exact) == 0 {
		return next
	}
	slices.SortFunc(below, func(a, b *served) int { return len(b.Path) - len(a.Path) })

	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		found := exact[r.URL.Path]
		for i := 0; found == nil && i < len(below); i++ {
			if strings.HasPrefix(r.URL.Path, below[i].Path) {
				found = below[i]
			}
		}
		if found == nil || (who == Everybody && !found.answers(r)) {
			next.ServeHTTP(w, r)

			return
		}
		found.ServeHTTP(w, r)
	})
}

// served is a mount with its limits.
type served struct {
	Mount

	methods []string
	places  chan struct{}
}

func newServed(at Mount, next http.Handler) *served {
	if at.Over != nil {
		at.Handler = at.Over(next)
	}
	s := &served{Mount: at, methods: at.Limits.Methods, places: make(chan struct{}, cmp.Or(at.Limits.Parallel, defaultParallel))}
	if len(s.methods) == 0 {
		s.methods = []string{http.MethodGet}
	}

	return s
}

func (s *served) answers(r *http.Request) bool {
	return slices.Contains(s.methods, r.Method) && (!s.Pages || forPage(r))
}

// forPage reports whether a browser requests a page. Clients of the API do not ask for HTML.
func forPage(r *http.Request) bool {
	return r.Header.Get("Authorization") == "" && strings.Contains(r.Header.Get("Accept"), "text/html")
}

// ServeHTTP implements http.Handler.
func (s *served) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !s.answers(r) {
		w.Header().Set("Allow", strings.Join(s.methods, ", "))
		http.Error(w, fmt.Sprintf("%s is not allowed here", r.Method), http.StatusMethodNotAllowed)

		return
	}
	select {
	case s.places <- struct{}{}:
		defer func() { <-s.places }()
	default:
		w.Header().Set("Retry-After", "1")
		http.Error(w, "too many requests, try again later", http.StatusTooManyRequests)

		return
	}
	if s.Limits.Within > 0 {
		defer hasten(w, s.Limits.Within)()
	}
	r.Body = http.MaxBytesReader(w, r.Body, s.Limits.Body)
	s.Handler.ServeHTTP(w, r)
}

// hasten makes writes of an answer fail after a time, and returns a function that ends this, as the next request of the connection may
// be a watch. Responses without a connection have no deadlines.
func hasten(w http.ResponseWriter, within time.Duration) (done func()) {
	connection := http.NewResponseController(w)
	if connection.SetWriteDeadline(time.Now().Add(within)) != nil { //nolint:forbidigo // The deadlines of connections are those of the machine's clock.
		return func() {}
	}

	return func() {
		connection.SetWriteDeadline(time.Time{}) //nolint:errcheck,gosec // It worked a moment ago.
	}
}
