// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"crypto/subtle"
	"crypto/x509"
	"errors"
	"time"
)

var (
	// ErrEnded says that the session has ended.
	ErrEnded = errors.New("the session has ended")
	// ErrBusy says that the session has too many open requests.
	ErrBusy = errors.New("too many open requests")
)

// User is who is signed in.
type User struct {
	Name   string   `json:"name"`
	Groups []string `json:"groups"`
}

// Credential is what the garden authenticates: either a token or a certificate.
type Credential struct {
	// Token is a bearer token.
	Token string
	// Certificate is a client certificate. Nobody has its key, so it is of use within this process only.
	Certificate *x509.Certificate
}

// Session is the session of a user. Its exported fields never change.
type Session struct {
	// Credential authenticates the requests of the session.
	Credential Credential
	// User is who the credential belonged to at the time of the sign-in.
	User User
	// CSRF is a secret of the pages of the session. Requests that change something must contain it.
	CSRF string
	// Expires is when the session ends at the latest.
	Expires time.Time

	store *Store
	key   [hashSize]byte

	// The store's mutex guards the rest.
	used   time.Time
	open   map[int]context.CancelFunc
	serial int
	ended  bool
}

// Allows reports whether a value is the secret of the pages, in a time that does not depend on the value.
func (s *Session) Allows(csrf string) bool {
	return subtle.ConstantTimeCompare([]byte(csrf), []byte(s.CSRF)) == 1
}

// Use begins a request. The returned context ends with the session, and done ends the request.
func (s *Session) Use(ctx context.Context) (within context.Context, done func(), err error) {
	s.store.mutex.Lock()
	defer s.store.mutex.Unlock()
	now := s.store.clock.Now()
	switch {
	case s.ended:
		return nil, nil, ErrEnded
	case len(s.open) >= maxOpen:
		return nil, nil, ErrBusy
	}
	s.used = now
	s.serial++
	id := s.serial
	within, cancel := context.WithTimeout(ctx, s.Expires.Sub(now))
	s.open[id] = cancel

	return within, func() {
		cancel()
		s.store.mutex.Lock()
		defer s.store.mutex.Unlock()
		delete(s.open, id)
		s.used = s.store.clock.Now()
	}, nil
}

// End ends the session and its open requests. Ending it again does nothing.
func (s *Session) End() {
	s.store.mutex.Lock()
	defer s.store.mutex.Unlock()
	s.store.end(s)
}

// expired reports whether the session is too old, or was not used for too long. A session with an open request is in use.
func (s *Session) expired(now time.Time) bool {
	return !now.Before(s.Expires) || (len(s.open) == 0 && !now.Before(s.used.Add(idle)))
}
