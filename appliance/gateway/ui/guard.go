// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"net/http"
	"net/url"

	"github.com/terrarium-garden/terrarium/appliance/gateway/session"
)

const (
	// cookieName has a prefix with which browsers accept the cookie only over TLS, for all paths and for this host alone.
	cookieName = "__Host-terrarium"
	csrfHeader = "X-Csrf-Token"

	siteHeader   = "Sec-Fetch-Site"
	originHeader = "Origin"
	sameOrigin   = "same-origin"
)

// found returns the session of a request, or nil.
func (s *site) found(r *http.Request) *session.Session {
	cookie, err := r.Cookie(cookieName)
	if err != nil {
		return nil
	}

	return s.sessions.Find(cookie.Value)
}

// guard returns the session of a request, if the request may be served with it. Otherwise it answers the request.
func (s *site) guard(w http.ResponseWriter, r *http.Request) *session.Session {
	if !permittedOrigin(r) {
		crossSite.write(w)

		return nil
	}
	found := s.found(r)
	if found == nil {
		noSession.write(w)

		return nil
	}
	if !safe(r.Method) && !found.Allows(r.Header.Get(csrfHeader)) {
		wrongCSRF.write(w)

		return nil
	}

	return found
}

// safe reports whether requests with a method change nothing.
func safe(method string) bool {
	return method == http.MethodGet || method == http.MethodHead || method == http.MethodOptions
}

// permittedOrigin reports whether a page of this server sends the request. Browsers say so in one of two headers. A request that
// changes something must have one; one that only reads may have none, or be sent by the user from the address bar.
func permittedOrigin(r *http.Request) bool {
	from, origin := r.Header.Get(siteHeader), r.Header.Get(originHeader)
	switch {
	case from != "":
		return from == sameOrigin || (from == "none" && safe(r.Method))
	case origin != "":
		u, err := url.Parse(origin)

		return err == nil && u.Scheme == "https" && u.Host == r.Host
	default:
		return safe(r.Method)
	}
}

// setCookie gives a session to the browser, which forgets it when it is closed.
func setCookie(w http.ResponseWriter, value string) {
	//nolint:gosec // The attributes are set; it is not seen because the last one depends on the value.
	cookie := http.Cookie{Name: cookieName, Value: value, Path: "/", Secure: true, HttpOnly: true, SameSite: http.SameSiteStrictMode}
	if value == "" {
		cookie.MaxAge = -1
	}
	http.SetCookie(w, &cookie)
}
