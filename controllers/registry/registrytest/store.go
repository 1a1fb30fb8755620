// SPDX-License-Identifier: Apache-2.0

// Package registrytest has a registry of container images for tests.
package registrytest

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"
)

// Answer answers a request in place of the registry, if it returns true.
type Answer func(w http.ResponseWriter, r *http.Request) bool

// Store is a registry that notes what it is asked.
type Store struct {
	Server *httptest.Server
	// Host is its address with the port.
	Host string

	mu     sync.Mutex
	asked  []string
	before Answer
}

// Open starts a registry, with TLS or without. It ends with the test.
func Open(t *testing.T, start func(http.Handler) *httptest.Server) *Store {
	t.Helper()
	s := &Store{}
	inner := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	s.Server = start(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		before := s.before
		s.asked = append(s.asked, r.Method+" "+r.URL.Path)
		s.mu.Unlock()
		if before == nil || !before(w, r) {
			inner.ServeHTTP(w, r)
		}
	}))
	s.Server.Config.ErrorLog = log.New(io.Discard, "", 0)
	t.Cleanup(s.Server.Close)
	s.Host = s.Server.Listener.Addr().String()
	return s
}

// Answer lets a function answer from now on, and returns the one that did before, which may be nil.
func (s *Store) Answer(before Answer) Answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := s.before
	s.before = before
	return last
}

// Asked returns what was asked since the last call: methods and paths.
func (s *Store) Asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	asked := s.asked
	s.asked = nil
	return asked
}
