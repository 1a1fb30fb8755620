// SPDX-License-Identifier: Apache-2.0

package revoked

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
)

// Backdate is how long before its issue the validity of a client certificate begins.
const Backdate = 5 * time.Minute

// Authorizer denies everything to seeds that are shut out. It must be the first authorizer.
func (s *Set) Authorizer() authorizer.Authorizer { return door{s} }

type door struct{ *Set }

// Authorize implements authorizer.Authorizer.
func (d door) Authorize(ctx context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	seed, ok := SeedOf(a.GetUser())
	if !ok {
		return authorizer.DecisionNoOpinion, "", nil
	}
	if err := d.Wait(ctx); err != nil {
		return authorizer.DecisionDeny, "", err
	}
	if r, ok := d.Get(seed); ok && r.Revoked {
		return authorizer.DecisionDeny, refusal(r).Error(), nil
	}

	return authorizer.DecisionNoOpinion, "", nil
}

// WithOpen registers the requests of seeds while they are served, so that they can be ended. It comes after authorization.
func (s *Set) WithOpen(next http.Handler, serializer runtime.NegotiatedSerializer) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who, _ := genericapirequest.UserFrom(r.Context())
		seed, ok := SeedOf(who)
		if !ok {
			next.ServeHTTP(w, r)

			return
		}
		ctx, leave, err := s.enter(r.Context(), seed)
		if err != nil {
			forbidden := apierrors.NewForbidden(schema.GroupResource{}, "", err)
			responsewriters.ErrorNegotiated(forbidden, serializer, schema.GroupVersion{}, w, r)

			return
		}
		defer leave()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// Known refuses credentials of a seed that were issued before the time from which they are accepted. For reviews of tokens, it
// also refuses those of seeds that are shut out.
func (s *Set) Known(next authenticator.Request, all bool) authenticator.Request {
	return authenticator.RequestFunc(func(r *http.Request) (*authenticator.Response, bool, error) {
		tokens := tokensOf(r) // An authenticator removes them.
		found, ok, err := next.AuthenticateRequest(r)
		if err != nil || !ok {
			return found, ok, err
		}
		seed, is := SeedOf(found.User)
		if !is {
			return found, ok, nil
		}
		if err := s.Wait(r.Context()); err != nil {
			return nil, false, err
		}
		record, there := s.Get(seed)
		if there && (all && record.Revoked || !record.CredentialsFrom.IsZero() && issued(r, found.User, tokens).Before(record.CredentialsFrom)) {
			return nil, false, nil
		}

		return found, ok, nil
	})
}

// issued is when the credential of an authenticated user was issued; zero if it does not say. Of what a request has, only one was verified,
// and everything else may be made up: service accounts have tokens, of which the oldest counts, and all others have certificates.
func issued(r *http.Request, who user.Info, tokens []string) time.Time {
	if _, _, err := serviceaccount.SplitUsername(who.GetName()); err != nil {
		if r.TLS == nil || len(r.TLS.PeerCertificates) == 0 {
			return time.Time{}
		}

		return r.TLS.PeerCertificates[0].NotBefore.Add(Backdate)
	}
	var oldest time.Time
	for n, token := range tokens {
		if at := issuedToken(token); n == 0 || at.Before(oldest) {
			oldest = at
		}
	}

	return oldest
}

// issuedToken reads the claim of a token that was verified before.
func issuedToken(token string) time.Time {
	parts := strings.Split(token, ".")
	const three = 3
	if len(parts) != three {
		return time.Time{}
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return time.Time{}
	}
	var claims struct {
		IssuedAt int64 `json:"iat"`
	}
	if err := json.Unmarshal(payload, &claims); err != nil || claims.IssuedAt == 0 {
		return time.Time{}
	}

	return time.Unix(claims.IssuedAt, 0)
}

// protocolPrefix begins a token in the header of WebSockets, for browsers, which cannot set others.
const protocolPrefix = "base64url.bearer.authorization.k8s.io."

// tokensOf returns the tokens of a request, from both headers that are looked at.
func tokensOf(r *http.Request) []string {
	var tokens []string
	scheme, token, _ := strings.Cut(strings.TrimSpace(r.Header.Get("Authorization")), " ")
	if strings.EqualFold(scheme, "bearer") {
		tokens = append(tokens, strings.TrimSpace(token))
	}
	for _, header := range r.Header.Values("Sec-WebSocket-Protocol") {
		for protocol := range strings.SplitSeq(header, ",") {
			encoded, is := strings.CutPrefix(strings.TrimSpace(protocol), protocolPrefix)
			if !is {
				continue
			}
			decoded, _ := base64.RawURLEncoding.DecodeString(encoded) // What cannot be decoded does not say when it was issued.
			tokens = append(tokens, string(decoded))
		}
	}

	return tokens
}
