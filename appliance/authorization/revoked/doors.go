// SPDX-License-Identifier: Apache-2.0

package revoked

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authentication/authenticator"
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
		token := bearer(r) // An authenticator removes it.
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
		if there && (all && record.Revoked || !record.CredentialsFrom.IsZero() && issued(r, token).Before(record.CredentialsFrom)) {
			return nil, false, nil
		}

		return found, ok, nil
	})
}

// issued is when the credential of an authenticated request was issued; zero if it does not say. Only one of several was verified, so
// it is the oldest that counts.
func issued(r *http.Request, token string) time.Time {
	var all []time.Time
	if token != "" {
		all = append(all, issuedToken(token))
	}
	if r.TLS != nil && len(r.TLS.PeerCertificates) > 0 {
		all = append(all, r.TLS.PeerCertificates[0].NotBefore.Add(Backdate))
	}
	if len(all) == 0 {
		return time.Time{}
	}

	return slices.MinFunc(all, time.Time.Compare)
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

func bearer(r *http.Request) string {
	scheme, token, _ := strings.Cut(strings.TrimSpace(r.Header.Get("Authorization")), " ")
	if !strings.EqualFold(scheme, "bearer") {
		return ""
	}

	return strings.TrimSpace(token)
}
