// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"crypto/subtle"
	"crypto/x509"
	"errors"
	"sync"
	"time"
)

var (
	// ErrEnded says that the session has ended.
	ErrEnded = errors.New("the session has ended")
	// ErrBusy says that the session, or its user, has too many open requests.
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
	// Expires is when the token expires, if there is a way to get another. A session with any other token expires with it.
	Expires time.Time
	// Renew returns the next credential of the same user. The error is ErrEnded if there is none any more.
	Renew func(ctx context.Context) (Credential, error)
	// Certificate is a client certificate. Nobody has its key, so it is of use within this process only.
	Certificate *x509.Certificate
}

// Session is the session of a user. Its exported fields never change.
type Session struct {
	// User is who the credential belonged to at the time of the sign-in.
	User User
	// CSRF is a secret of the pages of the session. Requests that change something must contain it.
	CSRF string
	// Expires is when the session ends at the latest.
	Expires time.Time

	store *Store
	key   [hashSize]byte

	// renewing is held by the request that renews the credential. It guards when that may be tried again after a failure, and the failure if there
	// is no valid credential meanwhile.
	renewing sync.Mutex
	retry    time.Time
	failure  error

	// The store's mutex guards the rest.
	credential Credential

	used   time.Time
	open   map[int]context.CancelFunc
	serial int
	ended  bool
}

// Allows reports whether a value is the secret of the pages, in a time that does not depend on the value.
func (s *Session) Allows(csrf string) bool {
	return subtle.ConstantTimeCompare([]byte(csrf), []byte(s.CSRF)) == 1
}

// Credential returns what authenticates the requests of the session at present.
func (s *Session) Credential() Credential {
	s.store.mutex.Lock()
	defer s.store.mutex.Unlock()

	return s.credential
}

// Freshen renews the credential if it is about to expire. It ends the session if its user has no credential any more. While the old one is valid,
// requests do not wait for the request that renews it, nor is a failure repeated at once.
func (s *Session) Freshen(ctx context.Context) error {
	before, now := s.Credential(), s.store.clock.Now()
	if before.Renew == nil || now.Before(before.Expires.Add(-early)) {
		return nil
	}
	valid := now.Before(before.Expires)
	if !valid {
		s.renewing.Lock()
	} else if !s.renewing.TryLock() {
		return nil
	}
	defer s.renewing.Unlock()
	if now.Before(s.retry) || !s.Credential().Expires.Equal(before.Expires) {
		return s.failure
	}
	// The issuer may count the old one as used from now on, so the answer is waited for even if the browser does not.
	renewed, err := before.Renew(context.WithoutCancel(ctx))
	if errors.Is(err, ErrEnded) {
		s.End()

		return err
	}
	if err != nil {
		s.retry = now.Add(pause)
		if !valid {
			s.failure = err
		}

		return s.failure
	}
	s.retry, s.failure = time.Time{}, nil
	s.store.mutex.Lock()
	defer s.store.mutex.Unlock()
	s.credential = renewed

	return nil
}

// validUntil requires the mutex of the store.
func (s *Session) validUntil() time.Time {
	if s.credential.Renew != nil && s.credential.Expires.Before(s.Expires) {
		return s.credential.Expires
	}

	return s.Expires
}

// Use begins a request. The returned context ends with the session, and done ends the request.
func (s *Session) Use(ctx context.Context) (within context.Context, done func(), err error) {
	s.store.mutex.Lock()
	defer s.store.mutex.Unlock()
	now := s.store.clock.Now()
	switch {
	case s.ended || !now.Before(s.validUntil()):
		return nil, nil, ErrEnded
	case len(s.open) >= maxOpen || s.store.full(s.User):
		return nil, nil, ErrBusy
	}
	s.used = now
	s.serial++
	id := s.serial
	// Watches do not go on with a credential that is no longer valid. Pages begin them again.
	within, cancel := context.WithTimeout(ctx, s.validUntil().Sub(now))
	s.open[id] = cancel
	s.store.take(s.User, 1)

	return within, func() {
		cancel()
		s.store.mutex.Lock()
		defer s.store.mutex.Unlock()
		delete(s.open, id)
		s.store.take(s.User, -1)
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
