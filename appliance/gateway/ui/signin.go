// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/terrarium-garden/terrarium/appliance/gateway/oidc"
	"github.com/terrarium-garden/terrarium/appliance/gateway/session"
)

// bodyTime is how long the body of a sign-in may take.
const bodyTime = 5 * time.Second

// signIn is the body of a sign-in. One of the fields is set.
type signIn struct {
	Token string `json:"token"`
	Code  string `json:"code"`
}

// signedIn describes a session to its pages.
type signedIn struct {
	User    session.User `json:"user"`
	CSRF    string       `json:"csrf"`
	Expires time.Time    `json:"expires"`
	Admin   bool         `json:"admin"`
}

func (s *site) session(api http.Handler, w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodPost:
		s.signIn(api, w, r)
	case http.MethodDelete:
		s.signOut(w, r)
	default:
		s.showSession(api, w, r)
	}
}

// signIn makes a session from a token or from the code of a one-time link. A session that the browser had before ends.
func (s *site) signIn(api http.Handler, w http.ResponseWriter, r *http.Request) {
	if !permittedOrigin(r) {
		crossSite.write(w)

		return
	}
	given, ok := s.readSignIn(w, r)
	if !ok {
		malformed.write(w)

		return
	}
	if !s.attempts.allowed(r) {
		tooManyAttempts.write(w)

		return
	}
	credential, way, refused := s.credential(given)
	if refused != "" {
		s.refuseSignIn(w, r, refused)

		return
	}
	user, status, err := whoIs(api, r, credential)
	switch {
	case status == http.StatusUnauthorized:
		s.refuseSignIn(w, r, wrongToken)

		return
	case err != nil || status != http.StatusCreated:
		unavailable.write(w)

		return
	}
	value, opened := s.sessions.Open(credential, user, expiry(given.Token))
	if before := s.found(r); before != nil {
		before.End()
	}
	s.Log.Info("Signed in to the web UI", "user", user.Name, "by", way, "from", r.RemoteAddr)
	setCookie(w, value)
	s.describe(api, w, r, opened, http.StatusCreated)
}

// credential returns what the session is going to use, and the way of the sign-in.
func (s *site) credential(given signIn) (session.Credential, string, refusal) {
	if given.Token != "" {
		return session.Credential{Token: given.Token}, "token", ""
	}
	if !s.sessions.SpendCode(given.Code) {
		return session.Credential{}, "", codeSpent
	}
	certificate, err := s.AdminCertificate(s.Clock.Now(), session.Lifetime)
	if err != nil {
		s.Log.Error(err, "Sign-in link refused")

		return session.Credential{}, "", unavailable
	}

	return session.Credential{Certificate: certificate}, "link", ""
}

func (s *site) refuseSignIn(w http.ResponseWriter, r *http.Request, why refusal) {
	if why == wrongToken || why == codeSpent {
		s.attempts.failed(r)
		s.Log.Info("Sign-in to the web UI refused", "reason", string(why), "from", r.RemoteAddr)
	}
	why.write(w)
}

// readSignIn accepts JSON only, which pages of other sites cannot send without permission. Nobody is known yet, so the body must
// come at once.
func (s *site) readSignIn(w http.ResponseWriter, r *http.Request) (signIn, bool) {
	var given signIn
	connection := http.NewResponseController(w)
	if err := connection.SetReadDeadline(s.Clock.Now().Add(bodyTime)); err != nil {
		return given, false
	}
	defer connection.SetReadDeadline(time.Time{}) //nolint:errcheck // Then the connection is closed already.
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" {
		return given, false
	}
	decoder := json.NewDecoder(r.Body)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&given); err != nil {
		return given, false
	}
	given.Token = strings.TrimSpace(given.Token)

	return given, (given.Token == "") != (given.Code == "") && !strings.ContainsAny(given.Token, "\r\n\x00 ")
}

func (s *site) signOut(w http.ResponseWriter, r *http.Request) {
	found := s.guard(w, r)
	if found == nil {
		return
	}
	found.End()
	s.Log.Info("Signed out of the web UI", "user", found.User.Name, "from", r.RemoteAddr)
	setCookie(w, "")
	protect(w)
	w.WriteHeader(http.StatusNoContent)
}

// showSession describes the session of the browser. It asks the API whether the credential is still valid.
func (s *site) showSession(api http.Handler, w http.ResponseWriter, r *http.Request) {
	found := s.guard(w, r)
	if found == nil {
		return
	}
	s.use(w, r, found, func(r *http.Request) {
		_, status, err := whoIs(api, r, found.Credential())
		switch {
		case status == http.StatusUnauthorized:
			s.refuseCredential(w, found)
		case err != nil || status != http.StatusCreated:
			unavailable.write(w)
		default:
			s.describe(api, w, r, found, http.StatusOK)
		}
	})
}

func (s *site) describe(api http.Handler, w http.ResponseWriter, r *http.Request, of *session.Session, status int) {
	writeJSON(w, status, signedIn{
		User: of.User, CSRF: of.CSRF, Expires: of.Expires.UTC().Truncate(time.Second), Admin: isAdmin(api, r, of.Credential()),
	})
}

// use serves a request with a session that is in use meanwhile.
func (s *site) use(w http.ResponseWriter, r *http.Request, with *session.Session, serve func(*http.Request)) {
	ctx, done, err := s.begin(r, with)
	switch {
	case errors.Is(err, oidc.ErrUnavailable):
		unavailable.write(w)

		return
	case errors.Is(err, session.ErrBusy):
		tooManyRequests.write(w)

		return
	case err != nil:
		noSession.write(w)

		return
	}
	defer done()
	serve(r.WithContext(ctx))
}

// begin begins a request of a session, whose credential is valid then.
func (*site) begin(r *http.Request, with *session.Session) (ctx context.Context, done func(), err error) {
	if err := with.Freshen(r.Context()); err != nil {
		return nil, nil, err
	}

	return with.Use(r.Context())
}

// end ends a session whose credential the garden no longer accepts.
func (s *site) end(of *session.Session) {
	of.End()
	s.Log.Info("Session of the web UI ended, its credential is no longer valid", "user", of.User.Name)
}

// refuseCredential answers a request whose session ends.
func (s *site) refuseCredential(w http.ResponseWriter, of *session.Session) {
	s.end(of)
	setCookie(w, "")
	noSession.write(w)
}

// expiry returns when a token expires, or the zero time. The garden has verified the token before.
func expiry(token string) time.Time {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return time.Time{}
	}
	claims := struct {
		Expires int64 `json:"exp"`
	}{}
	data, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil || json.Unmarshal(data, &claims) != nil || claims.Expires == 0 {
		return time.Time{}
	}

	return time.Unix(claims.Expires, 0)
}
