// SPDX-License-Identifier: Apache-2.0

package oidc

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/oauth2"
	"k8s.io/utils/clock"
)

var (
	// ErrUnavailable says that the issuer does not answer, or not as an issuer.
	ErrUnavailable = errors.New("the issuer is not available")
	// ErrRefused says that the issuer, or this package, does not accept what it was given.
	ErrRefused = errors.New("the sign-in was refused")
)

const (
	// attemptLifetime is how long people may take at the issuer.
	attemptLifetime = 10 * time.Minute
	// documentLifetime is how long the addresses of the issuer are kept.
	documentLifetime = time.Hour
	// requestTime limits a request to the issuer.
	requestTime = 10 * time.Second
	maxDocument = 256 << 10

	wellKnown = "/.well-known/openid-configuration"
)

// Config says who the issuer is, and who the garden is to it.
type Config struct {
	// Issuer is the URL of the issuer, exactly as in its tokens.
	Issuer string
	// ClientID and ClientSecret are the name and password of the garden. A public client has no password.
	ClientID, ClientSecret string
	// Scopes are requested at the sign-in.
	Scopes []string
	// Transport reaches the issuer.
	Transport http.RoundTripper
	// Clock is the clock of sign-ins.
	Clock clock.PassiveClock
}

// Client signs people in.
type Client struct {
	config Config
	http   *http.Client

	mutex  sync.Mutex
	known  *document
	readAt time.Time
}

// document is what an issuer says about itself.
type document struct {
	Issuer        string   `json:"issuer"`
	Authorization string   `json:"authorization_endpoint"`                //nolint:tagliatelle // The name in OpenID Connect.
	Token         string   `json:"token_endpoint"`                        //nolint:tagliatelle // The name in OpenID Connect.
	Methods       []string `json:"token_endpoint_auth_methods_supported"` //nolint:tagliatelle // The name in OpenID Connect.
}

// New returns a client. It asks the issuer when it is first needed.
func New(c Config) *Client {
	return &Client{config: c, http: &http.Client{
		Transport: c.Transport, Timeout: requestTime,
		// A code or password is sent to the addresses in the document, and to no others.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Attempt are the secrets of a sign-in that has begun. The browser keeps them until it comes back.
type Attempt struct {
	// State is what the issuer sends back, Nonce what it writes into the token, Verifier what proves that the code is for this server.
	State, Nonce, Verifier string
	// RedirectURI is where the issuer sends the browser.
	RedirectURI string
	// To is the page that was asked for.
	To string
	// Expires is when the sign-in must have ended.
	Expires time.Time
}

// Begin returns the secrets of a new sign-in, and the address of the issuer at which it goes on.
func (c *Client) Begin(ctx context.Context, redirectURI, to string) (Attempt, string, error) {
	config, err := c.oauth(ctx, redirectURI)
	if err != nil {
		return Attempt{}, "", err
	}
	a := Attempt{
		State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier(),
		RedirectURI: redirectURI, To: to, Expires: c.config.Clock.Now().Add(attemptLifetime),
	}

	return a, config.AuthCodeURL(a.State, oauth2.SetAuthURLParam("nonce", a.Nonce), oauth2.S256ChallengeOption(a.Verifier)), nil
}

// Finish exchanges a code for tokens. The identity token is one for this sign-in, if it is valid at all, which the caller finds out.
func (c *Client) Finish(ctx context.Context, a Attempt, code string) (Tokens, error) {
	if !c.config.Clock.Now().Before(a.Expires) {
		return Tokens{}, fmt.Errorf("%w: it took too long", ErrRefused)
	}
	config, err := c.oauth(ctx, a.RedirectURI)
	if err != nil {
		return Tokens{}, err
	}
	answer, err := config.Exchange(c.with(ctx), code, oauth2.VerifierOption(a.Verifier))
	if err != nil {
		return Tokens{}, explain("exchange code", err)
	}
	found, err := c.tokens(answer)
	if err != nil {
		return Tokens{}, err
	}
	if found.claims.Nonce != a.Nonce {
		return Tokens{}, fmt.Errorf("%w: the token is not for this sign-in", ErrRefused)
	}

	return found, nil
}

// Renew gets new tokens for the same user. The error is ErrRefused if there are none any more.
func (c *Client) Renew(ctx context.Context, before Tokens) (Tokens, error) {
	config, err := c.oauth(ctx, "")
	if err != nil {
		return Tokens{}, err
	}
	answer, err := config.TokenSource(c.with(ctx), &oauth2.Token{RefreshToken: before.refresh}).Token()
	if err != nil {
		return Tokens{}, explain("renew token", err)
	}
	found, err := c.tokens(answer)
	if err != nil {
		return Tokens{}, err
	}
	if found.claims.Subject != before.claims.Subject {
		return Tokens{}, fmt.Errorf("%w: the new token belongs to somebody else", ErrRefused)
	}

	return found, nil
}

func (c *Client) with(ctx context.Context) context.Context {
	return context.WithValue(ctx, oauth2.HTTPClient, c.http)
}

// oauth returns how to speak with the issuer.
func (c *Client) oauth(ctx context.Context, redirectURI string) (*oauth2.Config, error) {
	issuer, err := c.discover(ctx)
	if err != nil {
		return nil, err
	}
	style := oauth2.AuthStyleInHeader
	if c.config.ClientSecret == "" || (len(issuer.Methods) > 0 && !slices.Contains(issuer.Methods, "client_secret_basic")) {
		style = oauth2.AuthStyleInParams
	}

	return &oauth2.Config{
		ClientID: c.config.ClientID, ClientSecret: c.config.ClientSecret, RedirectURL: redirectURI, Scopes: c.config.Scopes,
		Endpoint: oauth2.Endpoint{AuthURL: issuer.Authorization, TokenURL: issuer.Token, AuthStyle: style},
	}, nil
}

// discover returns the addresses of the issuer.
func (c *Client) discover(ctx context.Context) (*document, error) {
	c.mutex.Lock()
	known, readAt := c.known, c.readAt
	c.mutex.Unlock()
	now := c.config.Clock.Now()
	if known != nil && now.Before(readAt.Add(documentLifetime)) {
		return known, nil
	}
	found, err := c.read(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.known, c.readAt = found, now

	return found, nil
}

func (c *Client) read(ctx context.Context) (*document, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(c.config.Issuer, "/")+wellKnown, http.NoBody)
	if err != nil {
		return nil, err
	}
	answer, err := c.http.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close() //nolint:errcheck // nothing is written
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("GET %s: %s", r.URL, answer.Status)
	}
	found := &document{}
	if err := json.NewDecoder(io.LimitReader(answer.Body, maxDocument)).Decode(found); err != nil {
		return nil, fmt.Errorf("read %s: %w", r.URL, err)
	}
	if found.Issuer != c.config.Issuer {
		return nil, fmt.Errorf("%s is the document of %q", r.URL, found.Issuer)
	}
	for _, endpoint := range []string{found.Authorization, found.Token} {
		if u, err := url.Parse(endpoint); err != nil || u.Scheme != "https" || u.Host == "" {
			return nil, fmt.Errorf("%s: %q is not an https URL", r.URL, endpoint)
		}
	}

	return found, nil
}

// explain says whether an issuer has refused a request or has not answered it. What it has written is not passed on, because it may contain what it
// was sent.
func explain(what string, err error) error {
	var refused *oauth2.RetrieveError
	if !errors.As(err, &refused) {
		return fmt.Errorf("%w: %s: %w", ErrUnavailable, what, err)
	}
	if refused.Response != nil && refused.Response.StatusCode >= http.StatusInternalServerError {
		return fmt.Errorf("%w: %s: %s", ErrUnavailable, what, refused.Response.Status)
	}

	return fmt.Errorf("%w: %s: error %q of the issuer", ErrRefused, what, refused.ErrorCode)
}
