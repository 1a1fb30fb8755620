// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"encoding/json"
	"net/http"
)

// refusal is why this package refuses a request, as a word for the pages. Refusals of the API are passed on as they are.
type refusal string

const (
	malformed       refusal = "Malformed"
	noSuchPath      refusal = "NotFound"
	noSession       refusal = "NoSession"
	wrongToken      refusal = "WrongCredentials"
	codeSpent       refusal = "CodeSpent"
	crossSite       refusal = "CrossSite"
	wrongCSRF       refusal = "WrongCSRFToken"
	notAdmin        refusal = "NotAdministrator"
	tooManyAttempts refusal = "TooManyAttempts"
	tooManyRequests refusal = "TooManyRequests"
	unavailable     refusal = "Unavailable"

	// These are for the sign-in page only, which has the sentences.
	noIssuer          refusal = "NoIssuer"
	wrongAddress      refusal = "WrongAddress"
	issuerUnavailable refusal = "IssuerUnavailable"
	issuerRefused     refusal = "IssuerRefused"
	signInDenied      refusal = "SignInDenied"
	signInExpired     refusal = "SignInExpired"
)

// explain returns the status and the sentence for people.
func (f refusal) explain() (status int, message string) {
	switch f {
	case malformed:
		return http.StatusBadRequest, "The request is not what this path expects."
	case noSuchPath:
		return http.StatusNotFound, "The API has no such path."
	case noSession:
		return http.StatusUnauthorized, "You are not signed in, or your session has ended."
	case wrongToken:
		return http.StatusUnauthorized, "The garden does not accept these credentials."
	case codeSpent:
		return http.StatusUnauthorized, "The link is not valid. A link works once, within a minute."
	case crossSite:
		return http.StatusForbidden, "The request comes from another site."
	case wrongCSRF:
		return http.StatusForbidden, "The request does not have the secret of this session."
	case notAdmin:
		return http.StatusForbidden, "Only the administrator of the garden can make sign-in links."
	case tooManyAttempts:
		return http.StatusTooManyRequests, "Too many sign-ins have failed. Try again later."
	case tooManyRequests:
		return http.StatusTooManyRequests, "You have too many open requests."
	default:
		return http.StatusServiceUnavailable, "The garden cannot check who you are at the moment."
	}
}

func (f refusal) write(w http.ResponseWriter) {
	status, message := f.explain()
	if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "5")
	}
	writeJSON(w, status, struct {
		Reason  refusal `json:"reason"`
		Message string  `json:"message"`
	}{f, message})
}

// protect sets the headers of answers that are no pages: they are neither kept, nor interpreted as pages.
func protect(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; sandbox")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Referrer-Policy", "no-referrer")
}

func writeJSON(w http.ResponseWriter, status int, value any) {
	protect(w)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(value) //nolint:errcheck,errchkjson,gosec // The client has gone; there is nobody to tell.
}
