// SPDX-License-Identifier: Apache-2.0

package webui_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/terrarium-garden/terrarium/tests/harness"
)

// TestSessions tries everything on one garden that does not change its clock.
func TestSessions(t *testing.T) {
	t.Parallel()
	g := harness.Start(t)
	t.Run("Link", byLink(g))
	t.Run("Token", byToken(g))
	t.Run("Refused", refused(g))
	t.Run("Links", links(g))
	t.Run("SlowBody", slowBody(g))
	t.Run("SecondSignIn", secondSignIn(g))
	t.Run("SignOut", signOut(g))
	t.Run("ManySessions", manySessions(g))
	t.Run("CSRF", csrf(g))
	t.Run("Smuggling", smuggling(g))
	t.Run("Paths", paths(g))
	t.Run("CookieAlone", cookieAlone(g))
	t.Run("Watch", watch(g))
	t.Run("FewFields", fewFields(g))
	t.Run("Revoked", revoked(g))
	t.Run("Redirects", redirects(g))
	t.Run("Pages", pages(g))
	t.Run("Info", info(g))
	t.Run("Status", status(g))
	t.Run("Projects", projects(g))
	t.Run("Command", command(g))
	t.Run("CommandOpens", commandOpens(g))
	t.Run("NoSecretsInLog", noSecretsInLog(g))
}

func byLink(g *harness.Garden) func(*testing.T) {
	return func(t *testing.T) {
		t.Parallel()
		b, code := open(t, g), newCode(t, g)
		who := b.signIn("code", code)
		if who.User.Name != "admin" || !slices.Contains(who.User.Groups, "system:masters") || !who.Admin {
			t.Errorf("the link is for the administrator; got %+v", who)
		}
		if until := time.Until(who.Expires); until < 11*time.Hour || until > 12*time.Hour {
			t.Errorf("a session lasts for half a day; got %s", until)
		}
		if diff := cmp.Diff("admin", b.whoAmI()); diff != "" {
			t.Errorf("the API authenticates the session as the administrator (-want +got):\n%s", diff)
		}
		again := open(t, g).do(http.MethodPost, "/ui/session", `{"code":"`+code+`"}`)
		if again.status != http.StatusUnauthorized || again.reason() != "CodeSpent" {
			t.Errorf("a link works once; got %d %s", again.status, again.body)
		}
	}
}

func byToken(g *harness.Garden) func(*testing.T) {
	return func(t *testing.T) {
		t.Parallel()
		_, secret := account(t, g, "by-token")
		b := open(t, g)
		response, err := b.Do(b.request(t.Context(), http.MethodPost, "/ui/session", `{"token":"`+secret+`"}`))
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close() //nolint:errcheck // nothing is written
		var who description
		if err := json.NewDecoder(response.Body).Decode(&who); err != nil || response.StatusCode != http.StatusCreated {
			t.Fatalf("sign in: got %d, %v", response.StatusCode, err)
		}
		if who.User.Name != "system:serviceaccount:garden:by-token" || !who.Admin {
			t.Errorf("who it is and whether they may do everything says the API; got %+v", who)
		}
		if until := time.Until(who.Expires); until > time.Hour {
			t.Errorf("a session does not outlive its token; it lasts %s", until)
		}
		set := response.Header.Get("Set-Cookie")
		for _, attribute := range []string{cookieName + "=", "; HttpOnly", "; Secure", "; SameSite=Strict", "; Path=/"} {
			if !strings.Contains(set, attribute) {
				t.Errorf("the cookie is for this server and not for scripts: Set-Cookie %q lacks %q", set, attribute)
			}
		}
		if strings.Contains(set, "Domain") || strings.Contains(set, secret) {
			t.Errorf("the cookie is for this host alone, and does not contain the token: %q", set)
		}
		got := b.do(http.MethodGet, "/ui/session", "")
		var shown description
		got.into(t, &shown)
		if diff := cmp.Diff(who, shown); diff != "" || got.status != http.StatusOK {
			t.Errorf("the session is shown as it was made: %d (-want +got):\n%s", got.status, diff)
		}
	}
}

// refused tries sign-ins that fail. There are fewer than an address may try.
func refused(g *harness.Garden) func(*testing.T) {
	return func(t *testing.T) {
		t.Parallel()
		for name, tc := range map[string]struct {
			reason  string
			body    string
			headers []string
			status  int
			want    string
		}{
			"wrong token": {"the garden says who is who", `{"token":"eyJhbGciOiJub25lIn0.e30."}`, nil, 401, "WrongCredentials"},
			"wrong code":  {"codes cannot be guessed", `{"code":"AAAA"}`, nil, 401, "CodeSpent"},
			"both":        {"it is not guessed what is meant", `{"code":"AAAA","token":"a"}`, nil, 400, "Malformed"},
			"none":        {"nobody is not signed in", `{}`, nil, 400, "Malformed"},
			"unknown":     {"fields that nobody reads are mistakes", `{"password":"a"}`, nil, 400, "Malformed"},
			"line break":  {"a token cannot add headers", `{"token":"a\r\nImpersonate-User: admin"}`, nil, 400, "Malformed"},
			"form":        {"forms of other sites are no sign-in", `{"code":"AAAA"}`, []string{"Content-Type", "text/plain"}, 400, "Malformed"},
			"other site":  {"nor are their scripts", `{"code":"AAAA"}`, []string{"Sec-Fetch-Site", "cross-site"}, 403, "CrossSite"},
			"same site":   {"another port is another site", `{"code":"AAAA"}`, []string{"Sec-Fetch-Site", "same-site"}, 403, "CrossSite"},
			"no browser":  {"who says nothing about the site is refused", `{"code":"AAAA"}`, []string{"Sec-Fetch-Site", "", "Origin", ""}, 403, "CrossSite"},
			"old browser": {"old browsers say the origin", `{"code":"AAAA"}`, []string{"Sec-Fetch-Site", "", "Origin", "https://evil.example"}, 403, "CrossSite"},
			"large":       {"bodies have a bound", `{"token":"` + strings.Repeat("a", 40<<10) + `"}`, nil, 400, "Malformed"},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				b := open(t, g)
				got := b.do(http.MethodPost, "/ui/session", tc.body, tc.headers...)
				if got.status != tc.status || got.reason() != tc.want || b.cookie() != "" {
					t.Errorf("%s\ngot %d %s and cookie %q, want %d %s and none", tc.reason, got.status, got.body, b.cookie(), tc.status, tc.want)
				}
			})
		}
	}
}

func links(g *harness.Garden) func(*testing.T) {
	return func(t *testing.T) {
		t.Parallel()
		_, secret := account(t, g, "link-maker")
		owner := g.Anonymous()
		owner.BearerToken = secret
		for name, tc := range map[string]struct {
			reason  string
			ask     func(t *testing.T) (int, string)
			headers []string
			want    int
		}{
			"nobody":   {"a link is a credential", func(t *testing.T) (int, string) { t.Helper(); return post(t, g.Anonymous()) }, nil, 401},
			"by role":  {"a role with all permissions is not the group", func(t *testing.T) (int, string) { t.Helper(); return post(t, owner) }, nil, 403},
			"as other": {"who acts as somebody else gets no link for the administrator", func(t *testing.T) (int, string) { t.Helper(); return post(t, g.Config, "Impersonate-User", "eve") }, nil, 403},
			"by page":  {"pages make no links", func(t *testing.T) (int, string) { t.Helper(); return post(t, g.Config, "Origin", g.Server) }, nil, 403},
			"by proxy": {"headers of proxies are not believed", func(t *testing.T) (int, string) {
				t.Helper()
				return post(t, g.Anonymous(), "X-Remote-User", "admin", "X-Remote-Group", "system:masters")
			}, nil, 401},
			"session": {"a session makes no links either", func(t *testing.T) (int, string) {
				t.Helper()
				b := open(t, g)
				b.signIn("code", newCode(t, g))
				got := b.do(http.MethodPost, "/ui/links", "", "Origin", "", "Sec-Fetch-Site", "")

				return got.status, got.body
			}, nil, 401},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				if status, body := tc.ask(t); status != tc.want || strings.Contains(body, `"code":"`) {
					t.Errorf("%s\ngot %d %s, want %d", tc.reason, status, body, tc.want)
				}
			})
		}
	}
}

// slowBody sends a body that never ends, which takes up a place of those who want to sign in.
func slowBody(g *harness.Garden) func(*testing.T) {
	return func(t *testing.T) {
		t.Parallel()
		b := open(t, g)
		r := b.request(t.Context(), http.MethodPost, "/ui/session", "")
		body, write := io.Pipe()
		defer write.Close() //nolint:errcheck // nobody reads any more
		r.Body, r.ContentLength = body, -1
		go write.Write([]byte(`{"token":`)) //nolint:errcheck // the end is what matters
		ctx, cancel := context.WithTimeout(t.Context(), harness.Patience)
		defer cancel()
		response, err := b.Do(r.WithContext(ctx))
		if ctx.Err() != nil {
			t.Error("a body that does not come is waited for")
		}
		if err == nil {
			defer response.Body.Close() //nolint:errcheck // nothing is written
			if response.StatusCode != http.StatusBadRequest {
				t.Errorf("a body that does not come is malformed; got %d", response.StatusCode)
			}
		}
	}
}

func secondSignIn(g *harness.Garden) func(*testing.T) {
	return func(t *testing.T) {
		t.Parallel()
		b, thief := open(t, g), open(t, g)
		b.signIn("code", newCode(t, g))
		first := b.cookie()
		b.signIn("code", newCode(t, g))
		if first == b.cookie() {
			t.Error("each sign-in has a value of its own, so none can be planted")
		}
		got := thief.do(http.MethodGet, "/ui/session", "", "Cookie", cookieName+"="+first)
		if got.status != http.StatusUnauthorized {
			t.Errorf("the session before ends; got %d %s", got.status, got.body)
		}
	}
}

func signOut(g *harness.Garden) func(*testing.T) {
	return func(t *testing.T) {
		t.Parallel()
		b, thief := open(t, g), open(t, g)
		b.signIn("code", newCode(t, g))
		value := b.cookie()
		if got := b.do(http.MethodDelete, "/ui/session", "", "X-CSRF-Token", ""); got.reason() != "WrongCSRFToken" {
			t.Errorf("other sites sign nobody out; got %d %s", got.status, got.body)
		}
		if got := b.do(http.MethodDelete, "/ui/session", ""); got.status != http.StatusNoContent || b.cookie() != "" {
			t.Errorf("the browser forgets the cookie; got %d and %q", got.status, b.cookie())
		}
		if got := thief.do(http.MethodGet, "/ui/kube/api/v1/namespaces", "", "Cookie", cookieName+"="+value); got.reason() != "NoSession" {
			t.Errorf("the server forgets the session; got %d %s", got.status, got.body)
		}
		if got := b.do(http.MethodDelete, "/ui/session", ""); got.reason() != "NoSession" {
			t.Errorf("there is no session left to end; got %d %s", got.status, got.body)
		}
	}
}

func manySessions(g *harness.Garden) func(*testing.T) {
	return func(t *testing.T) {
		t.Parallel()
		_, secret := account(t, g, "many")
		first := open(t, g)
		first.signIn("token", secret)
		for range 16 {
			open(t, g).signIn("token", secret)
		}
		if got := first.do(http.MethodGet, "/ui/session", ""); got.reason() != "NoSession" {
			t.Errorf("one user has a bounded number of sessions, and the oldest ends; got %d %s", got.status, got.body)
		}
	}
}

// TestClock puts the clock of a garden forward.
func TestClock(t *testing.T) {
	t.Parallel()
	clk := harness.NewClock(t)
	g := harness.Start(t, harness.WithClock(clk))
	_, secret := account(t, g, "clock")
	late, spent, idle := newCode(t, g), open(t, g), open(t, g)
	spent.signIn("code", newCode(t, g))
	idle.signIn("code", newCode(t, g))
	tokened := open(t, g)
	tokened.signIn("token", secret)

	clk.Step(61 * time.Second)
	if got := open(t, g).do(http.MethodPost, "/ui/session", `{"code":"`+late+`"}`); got.reason() != "CodeSpent" {
		t.Errorf("a link works for a minute; got %d %s", got.status, got.body)
	}
	if got := spent.whoAmI(); got != "admin" {
		t.Errorf("its session lasts longer; got %q", got)
	}
	clk.Step(59 * time.Minute)
	if got := spent.whoAmI(); got != "admin" {
		t.Errorf("a session that is in use lasts; got %q", got)
	}
	if got := tokened.whoAmI(); got != "NoSession" {
		t.Errorf("a session does not outlive its token; got %q", got)
	}
	if got := idle.whoAmI(); got != "NoSession" {
		t.Errorf("a session that is not used ends within an hour; got %q", got)
	}
	for range 11 {
		clk.Step(50 * time.Minute)
		if got := spent.whoAmI(); got != "admin" {
			t.Errorf("a session that is in use lasts; got %q", got)
		}
	}
	clk.Step(3 * time.Hour)
	if got := spent.whoAmI(); got != "NoSession" {
		t.Errorf("no session lasts longer than half a day; got %q", got)
	}
}

// TestAttempts fails to sign in until the address may not try for a while.
func TestAttempts(t *testing.T) {
	t.Parallel()
	g := harness.Start(t)
	b := open(t, g)
	b.signIn("code", newCode(t, g))
	for range 10 {
		if got := open(t, g).do(http.MethodPost, "/ui/session", `{"code":"wrong"}`); got.reason() != "CodeSpent" {
			t.Fatalf("the first attempts are answered; got %d %s", got.status, got.body)
		}
	}
	if got := open(t, g).do(http.MethodPost, "/ui/session", `{"code":"wrong"}`); got.reason() != "TooManyAttempts" || got.header.Get("Retry-After") == "" {
		t.Errorf("who fails too often has to wait; got %d %s", got.status, got.body)
	}
	if got := b.whoAmI(); got != "admin" {
		t.Errorf("sessions go on meanwhile; got %q", got)
	}
}
