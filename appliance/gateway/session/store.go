// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// Lifetime is how long a session lasts at most.
const Lifetime = 12 * time.Hour

const (
	hashSize = sha256.Size

	// prefixServiceAccount is before the namespace and the name of a service account, with a colon between them, in the name of its user.
	prefixServiceAccount = "system:serviceaccount:"

	// idle is how long a session lasts without requests.
	idle = time.Hour
	// early is how long before the end of a credential the next one is requested.
	early = 30 * time.Second
	// pause is how long a failure to get it is not repeated.
	pause = 5 * time.Second
	// codeLifetime is how long the code of a one-time link is valid.
	codeLifetime = time.Minute

	// maxSessions, maxOfUser and maxCodes bound the memory, maxOpen the open requests of a session.
	maxSessions = 1000
	maxOfUser   = 16
	maxCodes    = 100
	maxOpen     = 256
	// ofAll is the part of all places for open requests that one user has at most, and ofFree that of the free ones: so a few users together
	// leave places to others as well. ofAdmins is the part that only administrators have.
	ofAll    = 8
	ofFree   = 4
	ofAdmins = 32
)

// Store has all sessions and codes.
type Store struct {
	clock clock.PassiveClock
	// admins is the group of administrators.
	admins string

	mutex    sync.Mutex
	sessions map[[hashSize]byte]*Session
	codes    map[[hashSize]byte]time.Time
	// places is how many requests may be open, open how many are, and of how many each user has, by the name that share returns: also those of
	// sessions that have ended, until they end too.
	places, open int
	of           map[string]int
}

// New returns an empty store, which shares out a number of places for open requests. Some of them are left to the members of a group, whatever
// others do.
func New(clk clock.PassiveClock, places int, admins string) *Store {
	return &Store{clock: clk, admins: admins, sessions: map[[hashSize]byte]*Session{}, codes: map[[hashSize]byte]time.Time{}, places: places, of: map[string]int{}}
}

// full reports whether a user has no place for one more request. It requires the mutex.
func (s *Store) full(user User) bool {
	free := s.places - s.open
	if !s.isAdmin(user) {
		free = (free - s.places/ofAdmins) / ofFree
	}

	return s.of[share(user)] >= min(s.places/ofAll, free)
}

// take takes a place, or gives it back. It requires the mutex.
func (s *Store) take(user User, places int) {
	s.open += places
	if s.of[share(user)] += places; s.of[share(user)] == 0 {
		delete(s.of, share(user))
	}
}

func (s *Store) isAdmin(user User) bool { return slices.Contains(user.Groups, s.admins) }

// share is whose part of the places a user takes: service accounts of a namespace count as one, because who has a project makes as many as he
// likes.
func share(user User) string {
	account, is := strings.CutPrefix(user.Name, prefixServiceAccount)
	if !is {
		return user.Name
	}
	namespace, _, _ := strings.Cut(account, ":")

	return prefixServiceAccount + namespace
}

// Open makes a session and returns it with the value to find it by. It ends at until, if that is not zero, or earlier. A user with
// too many sessions loses the one that was not used for the longest time. If there are too many in all, a user with the most sessions
// does, and no administrator unless there are no others: nobody can lock them out with many users.
func (s *Store) Open(credential Credential, user User, until time.Time) (value string, opened *Session) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	now := s.clock.Now()
	s.sweep(now)
	if of := s.count(func(User) bool { return true }); of[share(user)] >= maxOfUser {
		s.end(s.longestUnused(func(other User) bool { return share(other) == share(user) }))
	}
	if len(s.sessions) >= maxSessions {
		s.end(s.longestUnused(s.expendable()))
	}
	expires := now.Add(Lifetime)
	if !until.IsZero() && until.Before(expires) {
		expires = until
	}
	value = rand.Text() + rand.Text()
	opened = &Session{
		credential: credential, User: user, CSRF: rand.Text(), Expires: expires,
		store: s, key: sha256.Sum256([]byte(value)), used: now, open: map[int]context.CancelFunc{},
	}
	s.sessions[opened.key] = opened

	return value, opened
}

// Find returns the session with a value, or nil. Only the hash of the value is compared, so the time that it takes says nothing
// about the values of others.
func (s *Store) Find(value string) *Session {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	found := s.sessions[sha256.Sum256([]byte(value))]
	if found != nil && found.expired(s.clock.Now()) {
		s.end(found)
		found = nil
	}

	return found
}

// NewCode returns a code that can be spent once, and when it expires. If too many codes wait to be spent, the oldest becomes
// invalid.
func (s *Store) NewCode() (code string, expires time.Time) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	now := s.clock.Now()
	s.sweep(now)
	if len(s.codes) >= maxCodes {
		delete(s.codes, oldest(s.codes))
	}
	code, expires = rand.Text()+rand.Text(), now.Add(codeLifetime)
	s.codes[sha256.Sum256([]byte(code))] = expires

	return code, expires
}

// SpendCode reports whether a code is valid, and makes it invalid.
func (s *Store) SpendCode(code string) bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	key := sha256.Sum256([]byte(code))
	expires, found := s.codes[key]
	delete(s.codes, key)

	return found && s.clock.Now().Before(expires)
}

// Waits reports whether the code with a hash waits to be spent.
func (s *Store) Waits(hash [hashSize]byte) bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	expires, found := s.codes[hash]

	return found && s.clock.Now().Before(expires)
}

// sweep forgets what has expired.
func (s *Store) sweep(now time.Time) {
	for _, session := range s.sessions {
		if session.expired(now) {
			s.end(session)
		}
	}
	for key, expires := range s.codes {
		if !now.Before(expires) {
			delete(s.codes, key)
		}
	}
}

// expendable tells the users who lose a session when there are too many: those with the most, and no administrators unless there are no
// others.
func (s *Store) expendable() func(user User) bool {
	of := s.count(func(user User) bool { return !s.isAdmin(user) })
	if len(of) == 0 {
		of = s.count(s.isAdmin)
	}
	most := slices.Max(slices.Collect(maps.Values(of)))

	return func(user User) bool { return of[share(user)] == most }
}

// count returns the number of sessions of each of these users.
func (s *Store) count(these func(user User) bool) map[string]int {
	of := map[string]int{}
	for _, session := range s.sessions {
		if these(session.User) {
			of[share(session.User)]++
		}
	}

	return of
}

// longestUnused returns the session that was not used for the longest time, of those users.
func (s *Store) longestUnused(of func(user User) bool) (longest *Session) {
	for _, session := range s.sessions {
		if of(session.User) && (longest == nil || session.used.Before(longest.used)) {
			longest = session
		}
	}

	return longest
}

// end requires the mutex.
func (s *Store) end(session *Session) {
	session.ended = true
	delete(s.sessions, session.key)
	for _, cancel := range session.open {
		cancel()
	}
}

func oldest(codes map[[hashSize]byte]time.Time) (key [hashSize]byte) {
	var first time.Time
	for k, expires := range codes {
		if first.IsZero() || expires.Before(first) {
			key, first = k, expires
		}
	}

	return key
}
