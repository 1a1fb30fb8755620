// SPDX-License-Identifier: Apache-2.0

// Package issuer is an OpenID Connect issuer for tests. It is strict where issuers are: redirect addresses are compared byte by byte, a code works once
// and with its verifier only, and the client shows its password. What it writes into tokens can be wrong on demand.
package issuer

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"html"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	// ClientID is the name of the garden.
	ClientID = "garden"
	// ClientSecret is its password.
	ClientSecret = "a password of the garden"

	keyID = "one"
)

// Account is who signs in at the issuer, and what is wrong with the tokens.
type Account struct {
	Subject string
	Email   string
	Groups  []string
	// Lifetime is that of identity tokens, an hour if it is 0.
	Lifetime time.Duration
	// Nonce, Audience and Key replace what belongs into the token.
	Nonce, Audience string
	Key             *rsa.PrivateKey
	// Ask shows a page with a link instead of sending the browser back at once. Deny sends it back with an error.
	Ask, Deny bool
	// NoRefresh gives no token to renew with; Revoked refuses those that were given.
	NoRefresh, Revoked bool
}

// Issuer is a running issuer.
type Issuer struct {
	// URL is its name, Front the address at which browsers see it: another host, and so another site than a garden at 127.0.0.1. CAFile has its certificate, SecretFile the password of the garden.
	URL, Front, CAFile, SecretFile string

	key    *rsa.PrivateKey
	server *httptest.Server

	mutex     sync.Mutex
	account   Account
	redirects []string
	codes     map[string]grant
	refreshed int
	down      bool
}

// grant is what a code stands for.
type grant struct{ nonce, challenge, redirect string }

// Start runs an issuer until the test ends.
func Start(t *testing.T) *Issuer {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	i := &Issuer{key: key, codes: map[string]grant{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", i.document)
	mux.HandleFunc("GET /keys", i.keys)
	mux.HandleFunc("GET /authorize", i.authorize)
	mux.HandleFunc("POST /token", i.token)
	mux.HandleFunc("GET /favicon.ico", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	i.server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		i.mutex.Lock()
		down := i.down
		i.mutex.Unlock()
		if down {
			http.Error(w, "down", http.StatusBadGateway)

			return
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(i.server.Close)
	i.URL = i.server.URL
	i.Front = strings.Replace(i.URL, "127.0.0.1", "localhost", 1)
	i.CAFile = filepath.Join(t.TempDir(), "ca.pem")
	i.SecretFile = filepath.Join(t.TempDir(), "secret")
	write(t, i.CAFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: i.server.Certificate().Raw}))
	write(t, i.SecretFile, []byte(ClientSecret+"\n"))

	return i
}

func write(t *testing.T, file string, data []byte) {
	t.Helper()
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// Client returns a client that trusts the issuer and follows no redirects.
func (i *Issuer) Client() *http.Client {
	c := i.server.Client()
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

	return c
}

// Register permits a redirect address.
func (i *Issuer) Register(redirectURI string) {
	i.mutex.Lock()
	defer i.mutex.Unlock()
	i.redirects = append(i.redirects, redirectURI)
}

// SignIn says who signs in next.
func (i *Issuer) SignIn(a Account) {
	i.mutex.Lock()
	defer i.mutex.Unlock()
	i.account = a
}

// SetDown makes the issuer answer nothing but errors.
func (i *Issuer) SetDown(down bool) {
	i.mutex.Lock()
	defer i.mutex.Unlock()
	i.down = down
}

// Refreshed returns how many tokens were renewed.
func (i *Issuer) Refreshed() int {
	i.mutex.Lock()
	defer i.mutex.Unlock()

	return i.refreshed
}

func (i *Issuer) document(w http.ResponseWriter, _ *http.Request) {
	answer(w, http.StatusOK, map[string]any{
		"issuer": i.URL, "authorization_endpoint": i.Front + "/authorize", "token_endpoint": i.URL + "/token", "jwks_uri": i.URL + "/keys",
		"response_types_supported": []string{"code"}, "subject_types_supported": []string{"public"},
		"id_token_signing_alg_values_supported": []string{"RS256"},
	})
}

func (i *Issuer) keys(w http.ResponseWriter, _ *http.Request) {
	answer(w, http.StatusOK, map[string]any{"keys": []any{map[string]any{
		"kty": "RSA", "use": "sig", "alg": "RS256", "kid": keyID, "n": encode(i.key.N.Bytes()), "e": encode(big.NewInt(int64(i.key.E)).Bytes()),
	}}})
}

// authorize is where browsers are sent to.
func (i *Issuer) authorize(w http.ResponseWriter, r *http.Request) {
	i.mutex.Lock()
	defer i.mutex.Unlock()
	q := r.URL.Query()
	if !slices.Contains(i.redirects, q.Get("redirect_uri")) || q.Get("client_id") != ClientID ||
		q.Get("response_type") != "code" || q.Get("code_challenge_method") != "S256" {
		http.Error(w, "wrong request: "+q.Encode(), http.StatusBadRequest)

		return
	}
	back := url.Values{"state": {q.Get("state")}}
	if i.account.Deny {
		back.Set("error", "access_denied")
	} else {
		code := rand.Text()
		i.codes[code] = grant{nonce: q.Get("nonce"), challenge: q.Get("code_challenge"), redirect: q.Get("redirect_uri")}
		back.Set("code", code)
	}
	target := q.Get("redirect_uri") + "?" + back.Encode()
	if i.account.Ask {
		w.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprintf(w, `<!doctype html><title>Issuer</title><a href="%s">Sign in as %s</a>`, html.EscapeString(target), html.EscapeString(i.account.Subject))

		return
	}
	http.Redirect(w, r, target, http.StatusFound) //nolint:gosec // Issuers do that; this one was told the address by the test.
}

// token exchanges codes and renews tokens.
func (i *Issuer) token(w http.ResponseWriter, r *http.Request) {
	i.mutex.Lock()
	defer i.mutex.Unlock()
	id, secret, _ := r.BasicAuth()
	if decoded, err := url.QueryUnescape(secret); err != nil || id != ClientID || decoded != ClientSecret {
		answer(w, http.StatusUnauthorized, map[string]string{"error": "invalid_client"})

		return
	}
	nonce := ""
	switch r.FormValue("grant_type") {
	case "authorization_code":
		given, ok := i.codes[r.FormValue("code")]
		delete(i.codes, r.FormValue("code"))
		proof := sha256.Sum256([]byte(r.FormValue("code_verifier")))
		if !ok || encode(proof[:]) != given.challenge || r.FormValue("redirect_uri") != given.redirect {
			answer(w, http.StatusBadRequest, map[string]string{"error": "invalid_grant"})

			return
		}
		nonce = given.nonce
	case "refresh_token":
		if i.account.Revoked || r.FormValue("refresh_token") != "refresh" {
			answer(w, http.StatusBadRequest, map[string]string{"error": "invalid_grant"})

			return
		}
		i.refreshed++
	default:
		answer(w, http.StatusBadRequest, map[string]string{"error": "unsupported_grant_type"})

		return
	}
	tokens := map[string]any{"access_token": "opaque", "token_type": "Bearer", "id_token": i.identity(nonce)}
	if !i.account.NoRefresh {
		tokens["refresh_token"] = "refresh"
	}
	answer(w, http.StatusOK, tokens)
}

// identity signs an identity token.
func (i *Issuer) identity(nonce string) string {
	a := i.account
	if a.Nonce != "" {
		nonce = a.Nonce
	}
	if a.Audience == "" {
		a.Audience = ClientID
	}
	if a.Lifetime == 0 {
		a.Lifetime = time.Hour
	}
	if a.Key == nil {
		a.Key = i.key
	}
	now := time.Now()
	head := part(map[string]any{"alg": "RS256", "kid": keyID, "typ": "JWT"})
	body := part(map[string]any{
		"iss": i.URL, "sub": a.Subject, "aud": a.Audience, "nonce": nonce, "email": a.Email, "email_verified": true, "groups": a.Groups,
		"iat": now.Add(-time.Minute).Unix(), "exp": now.Add(a.Lifetime).Unix(), "jti": rand.Text(),
	})
	signed := head + "." + body
	digest := sha256.Sum256([]byte(signed))
	signature, err := rsa.SignPKCS1v15(rand.Reader, a.Key, crypto.SHA256, digest[:])
	if err != nil {
		panic(err) // The key is a good one.
	}

	return signed + "." + encode(signature)
}

func answer(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value) //nolint:errchkjson // The client has gone; there is nobody to tell.
}

// part is a part of a token.
func part(value map[string]any) string {
	data, err := json.Marshal(value)
	if err != nil {
		panic(err) // There are texts and numbers in it.
	}

	return encode(data)
}

func encode(data []byte) string { return base64.RawURLEncoding.EncodeToString(data) }
