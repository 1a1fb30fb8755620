// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"cmp"
	"context"
	"crypto/subtle"
	"errors"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/terrarium-garden/terrarium/appliance/gateway/oidc"
	"github.com/terrarium-garden/terrarium/appliance/gateway/session"
)

const (
	// attemptCookie has the secrets of a sign-in while the browser is at the issuer. It is Lax, because the browser comes back from another site.
	attemptCookie = "__Host-terrarium-sign-in"
	// maxTarget limits the page that is asked for.
	maxTarget = 1024
)

// ways says how people can sign in apart from links and tokens.
func (s *site) ways(w http.ResponseWriter, _ *http.Request) {
	answer := struct {
		OIDC string `json:"oidc,omitempty"`
	}{}
	if s.Issuer != nil {
		answer.OIDC = s.IssuerName
	}
	writeJSON(w, http.StatusOK, answer)
}

// beginOIDC sends the browser to the issuer.
func (s *site) beginOIDC(w http.ResponseWriter, r *http.Request) {
	to := r.URL.Query().Get("to")
	if !ownPage(to) {
		to = ""
	}
	callback := s.callback(r.Host)
	switch {
	case s.Issuer == nil:
		backToSignIn(w, r, noIssuer, to)

		return
	case !permittedOrigin(r):
		backToSignIn(w, r, crossSite, to)

		return
	case callback == "":
		backToSignIn(w, r, wrongAddress, to)

		return
	}
	attempt, target, err := s.Issuer.Begin(r.Context(), callback, to)
	if err != nil {
		s.Log.Error(err, "Sign-in cannot begin")
		backToSignIn(w, r, issuerUnavailable, to)

		return
	}
	value, err := s.seal.close(attemptCookie, attempt)
	if err != nil {
		backToSignIn(w, r, unavailable, to)

		return
	}
	keepAttempt(w, value)
	protect(w)
	http.Redirect(w, r, target, http.StatusFound) //nolint:gosec // The address is the issuer's, from the configuration.
}

// finishOIDC signs in who comes back from the issuer.
func (s *site) finishOIDC(api http.Handler, w http.ResponseWriter, r *http.Request) {
	attempt, refused := s.attempt(r)
	keepAttempt(w, "")
	if refused == "" && !s.attempts.allowed(r) {
		refused = tooManyAttempts
	}
	var tokens oidc.Tokens
	if refused == "" {
		tokens, refused = s.exchange(r, attempt)
	}
	if refused == "" {
		refused = s.enter(api, w, r, tokens)
	}
	if refused != "" {
		s.Log.Info("Sign-in to the web UI refused", "by", "oidc", "reason", string(refused), "from", r.RemoteAddr)
		backToSignIn(w, r, refused, attempt.To)

		return
	}
	protect(w)
	http.Redirect(w, r, strings.TrimSuffix(Path, "/")+cmp.Or(attempt.To, "/"), http.StatusFound)
}

// attempt returns the sign-in that a browser has begun and now comes back from.
func (s *site) attempt(r *http.Request) (oidc.Attempt, refusal) {
	var attempt oidc.Attempt
	if s.Issuer == nil {
		return attempt, noIssuer
	}
	cookie, err := r.Cookie(attemptCookie)
	if err != nil || s.seal.open(attemptCookie, cookie.Value, &attempt) != nil {
		return oidc.Attempt{}, signInExpired
	}
	if subtle.ConstantTimeCompare([]byte(r.URL.Query().Get("state")), []byte(attempt.State)) != 1 {
		return oidc.Attempt{}, signInExpired
	}

	return attempt, ""
}

// exchange gets the tokens for the code that the browser has brought.
func (s *site) exchange(r *http.Request, attempt oidc.Attempt) (oidc.Tokens, refusal) {
	q := r.URL.Query()
	switch {
	case q.Get("error") == "access_denied":
		return oidc.Tokens{}, signInDenied
	case q.Get("error") != "" || q.Get("code") == "":
		return oidc.Tokens{}, issuerRefused
	}
	tokens, err := s.Issuer.Finish(r.Context(), attempt, q.Get("code"))
	switch {
	case errors.Is(err, oidc.ErrRefused):
		s.attempts.failed(r)
		s.Log.Info("Sign-in to the web UI refused", "by", "oidc", "why", err.Error(), "from", r.RemoteAddr)

		return oidc.Tokens{}, issuerRefused
	case err != nil:
		s.Log.Error(err, "Sign-in cannot end")

		return oidc.Tokens{}, issuerUnavailable
	}

	return tokens, ""
}

// enter opens a session with a token, if the garden accepts it.
func (s *site) enter(api http.Handler, w http.ResponseWriter, r *http.Request, tokens oidc.Tokens) refusal {
	credential := s.renewable(tokens)
	user, status, err := whoIs(api, r, credential)
	switch {
	case status == http.StatusUnauthorized:
		s.attempts.failed(r)

		return wrongToken
	case err != nil || status != http.StatusCreated:
		return unavailable
	}
	until := tokens.Expires()
	if tokens.Renewable() {
		until = time.Time{}
	}
	value, _ := s.sessions.Open(credential, user, until)
	if before := s.found(r); before != nil {
		before.End()
	}
	s.Log.Info("Signed in to the web UI", "user", user.Name, "by", "oidc", "from", r.RemoteAddr)
	setCookie(w, value)

	return ""
}

// renewable returns the credential of tokens, which gets the next one from the issuer.
func (s *site) renewable(tokens oidc.Tokens) session.Credential {
	c := session.Credential{Token: tokens.ID}
	if !tokens.Renewable() {
		return c
	}
	c.Expires = tokens.Expires()
	c.Renew = func(ctx context.Context) (session.Credential, error) {
		next, err := s.Issuer.Renew(ctx, tokens)
		if errors.Is(err, oidc.ErrRefused) {
			s.Log.Info("Session of the web UI ended, the issuer does not renew its token", "why", err.Error())

			return session.Credential{}, session.ErrEnded
		}
		if err != nil {
			return session.Credential{}, err
		}

		return s.renewable(next), nil
	}

	return c
}

// callback returns the address that the issuer sends browsers back to. It does not depend on what the browser says, so it is one of those that are
// registered at the issuer. A browser at another address could not show its cookie there.
func (s *site) callback(host string) string {
	info := s.Info()
	for _, server := range []string{info.Server, info.Local} {
		if u, err := url.Parse(server); err == nil && strings.EqualFold(u.Host, host) {
			return server + callbackPath
		}
	}

	return ""
}

// ownPage reports whether a path below that of the web UI can be one of its pages.
func ownPage(to string) bool {
	u, err := url.Parse(to)

	return err == nil && len(to) <= maxTarget && strings.HasPrefix(to, "/") && u.Scheme == "" && u.Host == "" &&
		!strings.ContainsAny(to, "\\#") && !strings.ContainsFunc(to, control) &&
		(u.Path == "/" || path.Clean(u.Path) == strings.TrimSuffix(u.Path, "/"))
}

// backToSignIn shows the sign-in page with what has gone wrong.
func backToSignIn(w http.ResponseWriter, r *http.Request, why refusal, to string) {
	q := url.Values{"problem": {string(why)}}
	if to != "" {
		q.Set("to", to)
	}
	protect(w)
	http.Redirect(w, r, SignInPath+"?"+q.Encode(), http.StatusFound)
}

// keepAttempt gives the secrets of a sign-in to the browser, or takes them away.
func keepAttempt(w http.ResponseWriter, value string) {
	age := 600
	if value == "" {
		age = -1
	}
	http.SetCookie(w, &http.Cookie{Name: attemptCookie, Value: value, Path: "/", Secure: true, HttpOnly: true, SameSite: http.SameSiteLaxMode, MaxAge: age})
}
