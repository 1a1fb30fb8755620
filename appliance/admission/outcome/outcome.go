// SPDX-License-Identifier: Apache-2.0

// Package outcome tells admission plugins what became of the requests that they allowed. A plugin that takes something for a request, such
// as the last place of a kind, is asked before the plugins and the store that may still refuse the request, and it must not keep the
// thing from others because of a request that was refused.
package outcome

import (
	"context"
	"net/http"
	"sync"

	"k8s.io/apiserver/pkg/endpoints/responsewriter"
)

// Outcome is what became of a request.
type Outcome int

const (
	// Unknown says that the request may still be written, or may have been written: it has failed or was given up while it waited for
	// the store.
	Unknown Outcome = iota
	// Refused says that the request was not written and will not be.
	Refused
	// Written says that the request was written, and that everybody who reads from now on sees it.
	Written
)

// Request is a request on its way. A nil request is one whose outcome nobody tells.
type Request struct {
	mu    sync.Mutex
	ended bool
	later []func(Outcome)
}

type key struct{}

// From returns the request of a context, or nil if nobody will tell what became of it.
func From(ctx context.Context) *Request {
	r, _ := ctx.Value(key{}).(*Request)

	return r
}

// Follow returns a context of a request whose outcome somebody tells with End.
func Follow(ctx context.Context) (context.Context, *Request) {
	r := &Request{}

	return context.WithValue(ctx, key{}, r), r
}

// Then calls a function once the request has ended. A request that was given up may go on meanwhile; what it asks for then has an
// unknown outcome.
func (r *Request) Then(do func(Outcome)) {
	if r == nil {
		return
	}
	if !r.wait(do) {
		do(Unknown)
	}
}

func (r *Request) wait(do func(Outcome)) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		return false
	}
	r.later = append(r.later, do)

	return true
}

// End says what became of the request. Only the first call counts.
func (r *Request) End(was Outcome) {
	for _, do := range r.end() {
		do(was)
	}
}

func (r *Request) end() []func(Outcome) {
	r.mu.Lock()
	defer r.mu.Unlock()
	later := r.later
	r.ended, r.later = true, nil

	return later
}

// With follows the requests that write objects. It reads their outcome from the answers of the API: those that say that the request
// was wrong are final, while errors of the server and timeouts are not.
func With(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.Method {
		case http.MethodPost, http.MethodPut, http.MethodPatch:
		default:
			next.ServeHTTP(w, r)
			return
		}
		ctx, about := Follow(r.Context())
		answer := &status{ResponseWriter: w}
		// A handler that panics leaves the outcome unknown.
		defer func() { about.End(answer.outcome()) }()
		next.ServeHTTP(responsewriter.WrapForHTTP1Or2(answer), r.WithContext(ctx))
	})
}

// status remembers the status of an answer.
type status struct {
	http.ResponseWriter

	code int
}

// Unwrap implements responsewriter.UserProvidedDecorator.
func (s *status) Unwrap() http.ResponseWriter { return s.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (s *status) WriteHeader(code int) {
	if s.code < http.StatusOK {
		s.code = code
	}
	s.ResponseWriter.WriteHeader(code)
}

// Write implements http.ResponseWriter.
func (s *status) Write(b []byte) (int, error) {
	if s.code < http.StatusOK {
		s.code = http.StatusOK
	}

	return s.ResponseWriter.Write(b)
}

func (s *status) outcome() Outcome {
	switch {
	case s.code >= http.StatusOK && s.code < http.StatusMultipleChoices:
		return Written
	case s.code >= http.StatusBadRequest && s.code < http.StatusInternalServerError:
		return Refused
	default:
		return Unknown
	}
}
