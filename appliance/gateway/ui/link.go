// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/terrarium-garden/terrarium/appliance/gateway/session"
)

// HashParameter is the parameter with the hash of a code.
const HashParameter = "hash"

// Link is the code of a one-time link.
type Link struct {
	Code    string    `json:"code"`
	Expires time.Time `json:"expires"`
}

// link makes a code for the administrator. Who that is says the API, by the caller's own credential: a certificate or a token. It
// takes the group and not a permission, because the session of the link has all permissions.
func (s *site) link(api http.Handler, w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		s.showLink(w, r)

		return
	}
	if r.Header.Get(siteHeader) != "" || r.Header.Get(originHeader) != "" || impersonates(r) {
		notAdmin.write(w)

		return
	}
	caller, status, err := whoIs(withOwn(api, r), r, session.Credential{})
	switch {
	case status == http.StatusUnauthorized:
		wrongToken.write(w)
	case err != nil || status != http.StatusCreated:
		unavailable.write(w)
	case !slices.Contains(caller.Groups, s.AdminGroup):
		notAdmin.write(w)
	default:
		code, expires := s.sessions.NewCode()
		s.Log.Info("Sign-in link made", "user", caller.Name, "from", r.RemoteAddr)
		writeJSON(w, http.StatusCreated, Link{Code: code, Expires: expires.UTC()})
	}
}

// showLink says whether a link has not been used yet, to clients that know the hash of its code: Not Found if it has, or is too old.
func (s *site) showLink(w http.ResponseWriter, r *http.Request) {
	var hash [sha256.Size]byte
	given, err := hex.DecodeString(r.URL.Query().Get(HashParameter))
	protect(w)
	if err != nil || copy(hash[:], given) != len(hash) || !s.sessions.Waits(hash) {
		w.WriteHeader(http.StatusNotFound)

		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// Hash returns the hash of the code, by which LinksPath says whether the link has not been used yet.
func (l Link) Hash() string {
	hash := sha256.Sum256([]byte(l.Code))

	return hex.EncodeToString(hash[:])
}

// withOwn returns an API that gets the credentials of the request r instead of those of a session.
func withOwn(api http.Handler, r *http.Request) http.Handler {
	own := r.Header.Get("Authorization")

	return http.HandlerFunc(func(w http.ResponseWriter, in *http.Request) {
		if own != "" {
			in.Header.Set("Authorization", own)
		}
		if r.TLS != nil {
			in.TLS = &tls.ConnectionState{HandshakeComplete: true, Version: r.TLS.Version, PeerCertificates: r.TLS.PeerCertificates}
		}
		api.ServeHTTP(w, in)
	})
}

// impersonates reports whether the caller wants to act as somebody else, which a link cannot.
func impersonates(r *http.Request) bool {
	for name := range r.Header {
		if strings.HasPrefix(name, "Impersonate-") {
			return true
		}
	}

	return false
}

// LinkURL returns the URL of a one-time link to a server. The code is in the fragment, which browsers do not send: it appears in no
// log on the way.
func LinkURL(server string, link Link) string {
	return strings.TrimSuffix(server, "/") + SignInPath + "#code=" + url.QueryEscape(link.Code)
}
