// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/group"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/util/flowcontrol"
	bootstraptoken "k8s.io/cluster-bootstrap/token/util"
	"k8s.io/kubernetes/plugin/pkg/auth/authenticator/token/bootstrap"
)

// The rate at which unknown tokens are looked up in the store, and how long a request waits for its lookup. Clients that
// guess tokens cannot overload the store, while a client that has just created many tokens is served.
const (
	lookupsPerSecond = 100
	lookupBurst      = 100
	lookupPatience   = 2 * time.Second
)

// withNewTokens accepts a join token as soon as its Secret has been written. The library reads tokens from a cache, which
// lags behind on a busy server, so that a token that was just printed would not be valid yet.
func withNewTokens(next authenticator.Request, secrets corev1client.SecretInterface) authenticator.Request {
	limit := flowcontrol.NewTokenBucketRateLimiter(lookupsPerSecond, lookupBurst)
	lookup := group.NewAuthenticatedGroupAdder(authenticator.RequestFunc(
		func(r *http.Request) (*authenticator.Response, bool, error) {
			tokens := bootstrap.NewTokenAuthenticator(stored(r.Context(), secrets))

			return tokens.AuthenticateToken(r.Context(), bearer(r))
		}))

	return authenticator.RequestFunc(func(r *http.Request) (*authenticator.Response, bool, error) {
		response, ok, err := next.AuthenticateRequest(r)
		if ok || !bootstraptoken.IsValidBootstrapToken(bearer(r)) || !inTurn(r.Context(), limit) {
			return response, ok, err
		}
		if found, ok, lookupErr := lookup.AuthenticateRequest(r); ok && lookupErr == nil {
			r.Header.Del("Authorization")

			return found, true, nil
		}

		return response, ok, err
	})
}

// inTurn waits until another lookup is allowed, and reports whether that was in time.
func inTurn(ctx context.Context, limit flowcontrol.RateLimiter) bool {
	ctx, cancel := context.WithTimeout(ctx, lookupPatience)
	defer cancel()

	return limit.Wait(ctx) == nil
}

// bearer returns the token of a request, or an empty string.
func bearer(r *http.Request) string {
	scheme, token, _ := strings.Cut(strings.TrimSpace(r.Header.Get("Authorization")), " ")
	if !strings.EqualFold(scheme, "bearer") {
		return ""
	}

	return strings.TrimSpace(token)
}

// storedSecrets reads single Secrets from the store.
type storedSecrets func(name string) (*corev1.Secret, error)

var _ corev1listers.SecretNamespaceLister = storedSecrets(nil)

func stored(ctx context.Context, in corev1client.SecretInterface) storedSecrets {
	return func(name string) (*corev1.Secret, error) { return in.Get(ctx, name, metav1.GetOptions{}) }
}

// Get implements corev1listers.SecretNamespaceLister.
func (s storedSecrets) Get(name string) (*corev1.Secret, error) { return s(name) }

// List implements corev1listers.SecretNamespaceLister. It is not used, because a token names its Secret.
func (storedSecrets) List(labels.Selector) ([]*corev1.Secret, error) {
	return nil, errors.ErrUnsupported
}
