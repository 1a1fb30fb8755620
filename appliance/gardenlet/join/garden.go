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
	// ErrTokenRights says that the garden accepts the token, but the token has no permission to join.
	ErrTokenRights = errors.New("the token is not for joining a seed")
)

// hintedError is an error with advice for the user.
type hintedError struct {
	err  error
	hint string
}

// Error implements error.
func (e *hintedError) Error() string { return e.err.Error() }

// Unwrap returns the error without the hint.
func (e *hintedError) Unwrap() error { return e.err }

// Hint returns the advice.
func (e *hintedError) Hint() string { return e.hint }

func hinted(err error, hint string) error { return &hintedError{err: err, hint: hint} }

// garden is a client of the garden with a join token.
type garden struct {
	invitation gardenaccess.Material
	clients    kubernetes.Interface
	hash       string
}

// openGarden checks that the server is the garden for which the token was made, and that it accepts the token. It changes
// nothing.
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

// gardenCA returns the CA that the garden's certificate must be signed by.
func (o Options) gardenCA(ctx context.Context, server string, token identity.JoinToken) ([]byte, error) {
	switch {
	case len(o.GardenCA) > 0 && token.CAHash != "" && identity.HashCA(o.GardenCA) != token.CAHash:
		return nil, fmt.Errorf("%w: --garden-ca-file has the hash %s, but the token was made for %s; omit the flag or use the CA of this garden",
			identity.ErrCAMismatch, identity.HashCA(o.GardenCA), token.CAHash)
	case len(o.GardenCA) > 0:
		return o.GardenCA, nil
	case token.CAHash == "":
		return identity.FetchUnpinnedCA(ctx, server)
	default:
		return identity.FetchCA(ctx, server, token.CAHash)
	}
}

// checkToken checks that the garden accepts the token, and that its user may request a certificate for a seed.
func (g *garden) checkToken(ctx context.Context) error {
	_, err := g.clients.AuthenticationV1().SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	err = gardenaccess.Explain(g.invitation.Server, err)
	if errors.Is(err, gardenaccess.ErrUnauthorized) {
		return hinted(fmt.Errorf("%s: %w", g.invitation.Server, ErrToken), `create a new token with "terrarium token create" and run the command that it prints`)
	}
	if err != nil {
		return fmt.Errorf("authenticate with the token: %w", err)
	}
	for _, attributes := range []authorizationv1.ResourceAttributes{
		{Verb: "create", Group: "certificates.k8s.io", Resource: "certificatesigningrequests"},
		{Verb: "create", Group: "certificates.k8s.io", Resource: "certificatesigningrequests", Subresource: "seedclient"},
	} {
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &attributes}}
		answer, err := g.clients.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
		if err != nil {
			return fmt.Errorf("check the permissions of the token: %w", gardenaccess.Explain(g.invitation.Server, err))
		}
		if !answer.Status.Allowed {
			return fmt.Errorf("%w: it may not %s %s/%s", ErrTokenRights, attributes.Verb, attributes.Resource, attributes.Subresource)
		}
	}
	return nil
}
