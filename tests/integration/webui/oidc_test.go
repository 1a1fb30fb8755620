// SPDX-License-Identifier: Apache-2.0

package webui_test

import (
	"crypto/rand"
	"crypto/rsa"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/tests/harness"
	"github.com/terrarium-garden/terrarium/tests/issuer"
)

const (
	beginPath    = "/ui/session/oidc"
	callbackPath = "/ui/session/oidc/callback"
)

// accounts is a garden with an issuer.
type accounts struct {
	*harness.Garden
	*issuer.Issuer
}

// TestOIDC tries everything on one garden, one after the other: the issuer is told who signs in next.
func TestOIDC(t *testing.T) { //nolint:tparallel // They share the issuer.
	t.Parallel()
	i := issuer.Start(t)
	g := harness.Start(t, harness.WithConfig(func(c *gardenconfigv1alpha1.ServerConfiguration) {
		c.OIDC = &gardenconfigv1alpha1.OIDCConfiguration{
			IssuerURL: i.URL, ClientID: issuer.ClientID, ClientSecretFile: i.SecretFile, CAFile: i.CAFile, DisplayName: "Example",
		}
		c.SetDefaults()
		c.DataDir = "" // The directory of the test, and not the default.
	}))
	i.Register(g.Server + callbackPath)
	a := accounts{g, i}
	a.ready(t)
	for name, test := range map[string]func(*testing.T){ //nolint:paralleltest // See above.
		"SignIn": a.signsIn, "Groups": a.groups, "Pages": a.signInPages, "Refused": a.refusals, "State": a.state, "Replay": a.replay, "Elsewhere": a.elsewhere,
		"Expiry": a.expiry, "Renewal": a.renewal, "Revoked": a.revoked, "Down": a.down,
	} {
		t.Run(name, test)
	}
	t.Run("Log", a.log)
}

// ready waits until the API has read the keys of the issuer, which it does in the background.
func (a accounts) ready(t *testing.T) {
	t.Helper()
	a.SignIn(issuer.Account{Subject: "first"})
	deadline := time.Now().Add(time.Minute)
	for a.begin(t, "").finish() != "/ui/" {
		if time.Now().After(deadline) {
			t.Fatal("the API does not accept tokens of the issuer within a minute")
		}
	}
}

// visit is a sign-in in a browser that is back from the issuer.
type visit struct {
	*browser

	back *url.URL
}

// begin begins a sign-in and goes through the issuer.
func (a accounts) begin(t *testing.T, to string) *visit {
	t.Helper()
	b := open(t, a.Garden)
	v := &visit{browser: b}
	first := b.do(http.MethodGet, beginPath+"?to="+url.QueryEscape(to), "", "Sec-Fetch-Site", "none")
	target := first.header.Get("Location")
	if first.status != http.StatusFound || !strings.HasPrefix(target, a.Front+"/authorize?") {
		t.Fatalf("the browser is sent to the issuer; got %d to %q", first.status, target)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, strings.Replace(target, a.Front, a.URL, 1), http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	second, err := a.Issuer.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = second.Body.Close()
	if v.back, err = second.Location(); err != nil {
		t.Fatalf("the issuer sends the browser back: %d %v", second.StatusCode, err)
	}

	return v
}

// finish returns to the garden, and returns where that sends the browser.
func (v *visit) finish() string {
	return v.do(http.MethodGet, callbackPath+"?"+v.back.RawQuery, "", "Sec-Fetch-Site", "cross-site").header.Get("Location")
}

func (a accounts) signsIn(t *testing.T) { //nolint:thelper // A part of the test, with the lines where it fails.
	a.SignIn(issuer.Account{Subject: "alice"})
	v := a.begin(t, "/seeds/eu-1?q=a%20b")
	if diff := cmp.Diff("/ui/seeds/eu-1?q=a%20b", v.finish()); diff != "" {
		t.Errorf("The page that was asked for is shown (-want +got):\n%s", diff)
	}
	who := description{}
	v.do(http.MethodGet, "/ui/session", "").into(t, &who)
	if who.User.Name != "oidc:alice" || who.Admin {
		t.Errorf("The session belongs to the user of the token; got %+v", who)
	}
	if until := time.Until(who.Expires); until < 11*time.Hour {
		t.Errorf("A session whose token can be renewed lasts for half a day; got %s", until)
	}
	answer := v.do(http.MethodGet, "/ui/kube/api/v1/secrets", "")
	if answer.status != http.StatusForbidden || !strings.Contains(answer.body, "oidc:alice") {
		t.Errorf("The API authenticates the user of the token; got %d %s", answer.status, answer.body)
	}
	ways := open(t, a.Garden).do(http.MethodGet, "/ui/session/ways", "")
	if diff := cmp.Diff("{\"oidc\":\"Example\"}\n", ways.body); diff != "" {
		t.Errorf("The sign-in page knows the name of the issuer (-want +got):\n%s", diff)
	}
}

func (a accounts) groups(t *testing.T) { //nolint:thelper // A part of the test, with the lines where it fails.
	a.SignIn(issuer.Account{Subject: "mallory", Groups: []string{"system:masters", "team"}})
	v := a.begin(t, "")
	v.finish()
	who := description{}
	v.do(http.MethodGet, "/ui/session", "").into(t, &who)
	if !slices.Contains(who.User.Groups, "oidc:team") || slices.Contains(who.User.Groups, "system:masters") || who.Admin {
		t.Errorf("The issuer cannot make administrators; got %+v", who)
	}
}

func (a accounts) signInPages(t *testing.T) { //nolint:thelper // A part of the test, with the lines where it fails.
	a.SignIn(issuer.Account{Subject: "alice"})
	for _, to := range []string{"https://evil.example", "//evil.example", `/\evil.example`, "/../apis", "/a/../../x", "javascript:alert(1)", "/x#y", "/x\r\nSet-Cookie: a=b", strings.Repeat("/x", 600)} {
		if got := a.begin(t, to).finish(); got != "/ui/" {
			t.Errorf("Only pages of the web UI are shown after the sign-in; %q leads to %q", to, got)
		}
	}
}

func (a accounts) refusals(t *testing.T) { //nolint:thelper // A part of the test, with the lines where it fails.
	other, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	for reason, tc := range map[string]struct {
		account issuer.Account
		want    string
	}{
		"The token of another sign-in is not accepted.":    {issuer.Account{Subject: "alice", Nonce: "another"}, "IssuerRefused"},
		"A token for another client is not accepted.":      {issuer.Account{Subject: "alice", Audience: "another"}, "WrongCredentials"},
		"A token with another signature is not accepted.":  {issuer.Account{Subject: "alice", Key: other}, "WrongCredentials"},
		"A token that has expired is not accepted.":        {issuer.Account{Subject: "alice", Lifetime: -time.Minute}, "WrongCredentials"},
		"Who does not want to sign in is told so.":         {issuer.Account{Subject: "alice", Deny: true}, "SignInDenied"},
		"A token without a user is not an identity token.": {issuer.Account{}, "IssuerRefused"},
	} {
		a.SignIn(tc.account)
		v := a.begin(t, "/seeds")
		if diff := cmp.Diff("/ui/sign-in?problem="+tc.want+"&to=%2Fseeds", v.finish()); diff != "" {
			t.Errorf("%s\nsent to (-want +got):\n%s", reason, diff)
		}
		if got := v.do(http.MethodGet, "/ui/session", ""); got.status != http.StatusUnauthorized {
			t.Errorf("%s\nthere is a session: %d", reason, got.status)
		}
	}
}

func (a accounts) state(t *testing.T) { //nolint:thelper // A part of the test, with the lines where it fails.
	a.SignIn(issuer.Account{Subject: "mallory"})
	attacker := a.begin(t, "")
	victim := a.begin(t, "")
	victim.back = attacker.back
	if got := victim.finish(); got != "/ui/sign-in?problem=SignInExpired" {
		t.Errorf("Nobody is signed in by a link that somebody else has begun; sent to %q", got)
	}
	fresh := &visit{browser: open(t, a.Garden), back: attacker.back}
	if got := fresh.finish(); got != "/ui/sign-in?problem=SignInExpired" {
		t.Errorf("Nor in a browser that has not begun one; sent to %q", got)
	}
	cross := open(t, a.Garden).do(http.MethodGet, beginPath, "", "Sec-Fetch-Site", "cross-site")
	if got := cross.header.Get("Location"); got != "/ui/sign-in?problem=CrossSite" {
		t.Errorf("Other sites cannot begin a sign-in; sent to %q", got)
	}
}

func (a accounts) replay(t *testing.T) { //nolint:thelper // A part of the test, with the lines where it fails.
	a.SignIn(issuer.Account{Subject: "alice"})
	v := a.begin(t, "")
	address, err := url.Parse(a.Server)
	if err != nil {
		t.Fatal(err)
	}
	cookies := v.Jar.Cookies(&url.URL{Scheme: "https", Host: address.Host, Path: "/ui/"})
	if got := v.finish(); got != "/ui/" {
		t.Fatalf("The first time works; sent to %q", got)
	}
	if got := v.finish(); got != "/ui/sign-in?problem=SignInExpired" {
		t.Errorf("The browser forgets the secrets of a sign-in with its end; sent to %q", got)
	}
	thief := &visit{browser: open(t, a.Garden), back: v.back}
	thief.Jar.SetCookies(address, cookies)
	if got := thief.finish(); got != "/ui/sign-in?problem=IssuerRefused" {
		t.Errorf("A code works once, even with its secrets; sent to %q", got)
	}
}

func (a accounts) elsewhere(t *testing.T) { //nolint:thelper // A part of the test, with the lines where it fails.
	r := open(t, a.Garden).request(t.Context(), http.MethodGet, beginPath, "")
	r.Host = "evil.example"
	answer := open(t, a.Garden).send(r)
	if got := answer.header.Get("Location"); got != "/ui/sign-in?problem=WrongAddress" {
		t.Errorf("The address to come back to does not depend on what a request says; sent to %q", got)
	}
}

func (a accounts) expiry(t *testing.T) { //nolint:thelper // A part of the test, with the lines where it fails.
	a.SignIn(issuer.Account{Subject: "alice", NoRefresh: true, Lifetime: 10 * time.Minute})
	v := a.begin(t, "")
	v.finish()
	who := description{}
	v.do(http.MethodGet, "/ui/session", "").into(t, &who)
	if until := time.Until(who.Expires); until <= 0 || until > 10*time.Minute {
		t.Errorf("A session whose token cannot be renewed ends with it; got %s", until)
	}
}

func (a accounts) renewal(t *testing.T) { //nolint:thelper // A part of the test, with the lines where it fails.
	// The token is renewed half a minute before its end, which is now.
	a.SignIn(issuer.Account{Subject: "alice", Lifetime: 20 * time.Second})
	v := a.begin(t, "")
	v.finish()
	before := a.Refreshed()
	if got := v.do(http.MethodGet, "/ui/session", ""); got.status != http.StatusOK || a.Refreshed() != before+1 {
		t.Errorf("The token is renewed before it expires; got %d, %d renewals", got.status, a.Refreshed()-before)
	}
	a.SignIn(issuer.Account{Subject: "bob", Lifetime: time.Hour})
	if got := v.do(http.MethodGet, "/ui/session", ""); got.status != http.StatusUnauthorized {
		t.Errorf("The token of somebody else ends the session; got %d", got.status)
	}
}

func (a accounts) revoked(t *testing.T) { //nolint:thelper // A part of the test, with the lines where it fails.
	a.SignIn(issuer.Account{Subject: "alice", Lifetime: 20 * time.Second})
	v := a.begin(t, "")
	v.finish()
	a.SignIn(issuer.Account{Subject: "alice", Revoked: true})
	if got := v.do(http.MethodGet, "/ui/session", ""); got.status != http.StatusUnauthorized || got.reason() != "NoSession" {
		t.Errorf("Who loses the account loses the session with the next token; got %d %s", got.status, got.body)
	}
}

func (a accounts) down(t *testing.T) { //nolint:thelper // A part of the test, with the lines where it fails.
	a.SignIn(issuer.Account{Subject: "alice", Lifetime: 20 * time.Second})
	v, w := a.begin(t, ""), a.begin(t, "")
	v.finish()
	a.SetDown(true)
	defer a.SetDown(false)
	if got := v.do(http.MethodGet, "/ui/session", ""); got.status != http.StatusOK {
		t.Errorf("A session goes on for as long as its token is valid; got %d %s", got.status, got.body)
	}
	if got := w.finish(); got != "/ui/sign-in?problem=IssuerUnavailable" {
		t.Errorf("It is said that the issuer does not answer; sent to %q", got)
	}
}

func (a accounts) log(t *testing.T) {
	log := a.Log()
	for _, secret := range []string{issuer.ClientSecret, "refresh_token", "eyJ", "code_verifier"} {
		if strings.Contains(log, secret) {
			t.Errorf("The log contains %q", secret)
		}
	}
}
