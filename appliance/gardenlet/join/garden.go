// SPDX-License-Identifier: Apache-2.0

package join

import (
	"context"
	"errors"
	"fmt"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/terrarium-garden/terrarium/appliance/gardenlet/gardenaccess"
	"github.com/terrarium-garden/terrarium/appliance/identity"
)

var (
	// ErrToken says that the garden does not accept the token.
	ErrToken = errors.New("the garden does not accept the token: it is unknown, has expired, or has been used already")
	// ErrTokenRights says that the garden knows the token, but it is not for joining.
	ErrTokenRights = errors.New("the token is not for joining a seed")
)

// hintedError brings its own advice.
type hintedError struct {
	err  error
	hint string
}

// Error implements error.
func (e *hintedError) Error() string { return e.err.Error() }

// Unwrap gives the problem.
func (e *hintedError) Unwrap() error { return e.err }

// Hint says what to do about it.
func (e *hintedError) Hint() string { return e.hint }

func hinted(err error, hint string) error { return &hintedError{err: err, hint: hint} }

// garden is the garden as the holder of a join token sees it.
type garden struct {
	invitation gardenaccess.Material
	clients    kubernetes.Interface
	hash       string
}

// openGarden makes sure that the server is the garden that the token was made for, and that it knows the token. It
// changes nothing.
func openGarden(ctx context.Context, o Options, userAgent string) (*garden, error) {
	token, err := o.token()
	if err != nil {
		return nil, err
	}
	server := strings.TrimSuffix(o.Server, "/")
	bundle, err := o.gardenCA(ctx, server, token)
	if err != nil {
		return nil, fmt.Errorf("compare the CA of the garden with the hash in the token: %w", gardenaccess.Explain(server, err))
	}
	g := &garden{
		invitation: gardenaccess.Material{Server: server, CA: bundle, Token: token.BootstrapToken()},
		hash:       identity.HashCA(bundle),
	}
	g.clients, err = kubernetes.NewForConfig(&rest.Config{
		Host: server, BearerToken: g.invitation.Token, UserAgent: userAgent, TLSClientConfig: rest.TLSClientConfig{CAData: bundle},
	})
	if err != nil {
		return nil, fmt.Errorf("build client of the garden: %w", err)
	}
	return g, g.checkToken(ctx)
}

// gardenCA is the CA that the garden has to show a certificate of.
func (o Options) gardenCA(ctx context.Context, server string, token identity.JoinToken) ([]byte, error) {
	switch {
	case len(o.GardenCA) > 0 && token.CAHash != "" && identity.HashCA(o.GardenCA) != token.CAHash:
		return nil, fmt.Errorf("%w: --garden-ca-file has the hash %s, the token was made for %s; leave the file out or give that of this garden",
			identity.ErrCAMismatch, identity.HashCA(o.GardenCA), token.CAHash)
	case len(o.GardenCA) > 0:
		return o.GardenCA, nil
	case token.CAHash == "":
		return identity.FetchUnpinnedCA(ctx, server)
	default:
		return identity.FetchCA(ctx, server, token.CAHash)
	}
}

// checkToken asks the garden who comes with the token, and whether that may request a certificate for a seed.
func (g *garden) checkToken(ctx context.Context) error {
	_, err := g.clients.AuthenticationV1().SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	err = gardenaccess.Explain(g.invitation.Server, err)
	if errors.Is(err, gardenaccess.ErrUnauthorized) {
		return hinted(fmt.Errorf("%s: %w", g.invitation.Server, ErrToken), `make a new token with "terrarium token create" and paste the whole command`)
	}
	if err != nil {
		return fmt.Errorf("show the token to the garden: %w", err)
	}
	for _, attributes := range []authorizationv1.ResourceAttributes{
		{Verb: "create", Group: "certificates.k8s.io", Resource: "certificatesigningrequests"},
		{Verb: "create", Group: "certificates.k8s.io", Resource: "certificatesigningrequests", Subresource: "seedclient"},
	} {
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &attributes}}
		answer, err := g.clients.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
		if err != nil {
			return fmt.Errorf("ask the garden what the token is for: %w", gardenaccess.Explain(g.invitation.Server, err))
		}
		if !answer.Status.Allowed {
			return fmt.Errorf("%w: it may not %s %s/%s", ErrTokenRights, attributes.Verb, attributes.Resource, attributes.Subresource)
		}
	}
	return nil
}
