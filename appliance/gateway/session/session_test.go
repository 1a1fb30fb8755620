// SPDX-License-Identifier: Apache-2.0

package session_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/terrarium-garden/terrarium/appliance/gateway/session"
)

// world is a store with the clock that it looks at.
type world struct {
	*session.Store

	t     *testing.T
	clock *clocktesting.FakePassiveClock
}

func newWorld(t *testing.T) *world {
	t.Helper()
	clk := clocktesting.NewFakePassiveClock(time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC))

	return &world{t: t, clock: clk, Store: session.New(clk, 4096, "admins")}
}

func (w *world) step(by time.Duration) { w.clock.SetTime(w.clock.Now().Add(by)) }

// open makes a session and returns the value that finds it.
func (w *world) open(user string, until time.Time) string {
	w.t.Helper()
	value, _ := w.Open(session.Credential{Token: "t"}, session.User{Name: user}, until)

	return value
}

func (w *world) use(value string) (context.Context, func()) {
	w.t.Helper()
	ctx, done, err := w.Find(value).Use(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}

	return ctx, done
}

func TestFind(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		until  time.Duration
		then   func(w *world, value string)
		found  bool
	}{
		"new":     {"a session is there", 0, func(*world, string) {}, true},
		"old":     {"for half a day at most", 0, func(w *world, _ string) { w.step(12 * time.Hour) }, false},
		"token":   {"and as long as the token", 30 * time.Minute, func(w *world, _ string) { w.step(30 * time.Minute) }, false},
		"long":    {"a longer token does not prolong it", 48 * time.Hour, func(w *world, _ string) { w.step(12 * time.Hour) }, false},
		"resting": {"it may rest", 0, func(w *world, _ string) { w.step(59 * time.Minute) }, true},
		"idle":    {"but not for an hour", 0, func(w *world, _ string) { w.step(time.Hour) }, false},
		"ended":   {"it may be ended", 0, func(w *world, value string) { w.Find(value).End() }, false},
		"used": {"a request counts from its end", 0, func(w *world, value string) {
			_, done := w.use(value)
			w.step(2 * time.Hour)
			done()
			w.step(59 * time.Minute)
		}, true},
		"in use":    {"who watches is not idle", 0, func(w *world, value string) { w.use(value); w.step(2 * time.Hour) }, true},
		"watching":  {"but the session ends all the same", 0, func(w *world, value string) { w.use(value); w.step(12 * time.Hour) }, false},
		"too many":  {"of the sessions of one user the one that rests longest ends", 0, func(w *world, _ string) { w.step(time.Second); w.many("eve", 16) }, false},
		"of others": {"those of other users do not count", 0, func(w *world, _ string) { w.many("adam", 20) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			until := time.Time{}
			if tc.until > 0 {
				until = w.clock.Now().Add(tc.until)
			}
			value := w.open("eve", until)
			tc.then(w, value)
			if found := w.Find(value) != nil; found != tc.found {
				t.Errorf("%s\nFind(...) found it: %t, want %t", tc.reason, found, tc.found)
			}
			if w.Find("x"+value) != nil {
				t.Error("another value finds nothing")
			}
		})
	}
}

func (w *world) many(user string, number int) {
	w.t.Helper()
	for range number {
		w.open(user, time.Time{})
	}
}

func TestUse(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	value := w.open("eve", time.Time{})
	held := w.Find(value)
	watching, _ := w.use(value)
	var last func()
	for range 255 {
		_, last = w.use(value)
	}
	if _, _, err := held.Use(t.Context()); !errors.Is(err, session.ErrBusy) {
		t.Errorf("a session has a bounded number of open requests; Use() = %v", err)
	}
	last()
	if _, done, err := held.Use(t.Context()); err != nil {
		t.Errorf("one that is answered makes room for another; Use() = %v", err)
	} else {
		done()
	}
	held.End()
	held.End()
	<-watching.Done()
	if _, _, err := held.Use(t.Context()); !errors.Is(err, session.ErrEnded) {
		t.Errorf("a session that has ended is of no use; Use() = %v", err)
	}
}

// fill opens as many requests as one user may, with as many sessions as that needs, and returns how many, and what ends them.
func (w *world) fill(user string, groups ...string) (open int, end func()) {
	w.t.Helper()
	var all []func()
	for range 16 {
		_, s := w.Open(session.Credential{Token: "t"}, session.User{Name: user, Groups: groups}, time.Time{})
		for {
			_, done, err := s.Use(w.t.Context())
			if errors.Is(err, session.ErrBusy) {
				break
			}
			if err != nil {
				w.t.Fatal(err)
			}
			all = append(all, done)
		}
	}

	return len(all), func() {
		for _, done := range all {
			done()
		}
	}
}

// TestShare: one user has an eighth of all places, which is enough for two browsers with all requests that a session may have.
func TestShare(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	open, end := w.fill("greedy")
	if open != 512 {
		t.Errorf("one user has an eighth of 4,096 places; got %d", open)
	}
	w.many("greedy", 16)
	if more, _ := w.fill("greedy"); more != 0 {
		t.Errorf("requests of sessions that have ended count until they end; got %d more", more)
	}
	if others, endOthers := w.fill("other"); others != 512 {
		t.Errorf("other users have theirs; got %d", others)
	} else {
		endOthers()
	}
	end()
	if again, _ := w.fill("greedy"); again != 512 {
		t.Errorf("places are free when requests end; got %d", again)
	}
}

// TestShareOfMany: the users who would fill all places with an eighth each leave many to another one.
func TestShareOfMany(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	all := 0
	for i := range 8 {
		open, _ := w.fill(fmt.Sprintf("robot-%d", i))
		all += open
	}
	if open, _ := w.fill("alice"); open < 128 || all+open > 4096 {
		t.Errorf("after 8 users with %d requests, another one has places for several tabs; got %d", all, open)
	}
}

// TestShareOfServiceAccounts: those of a namespace have the part of one user.
func TestShareOfServiceAccounts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var got []int
	for _, name := range []string{"garden-a:x", "garden-a:y", "garden-b:x"} {
		open, _ := w.fill("system:serviceaccount:" + name)
		got = append(got, open)
	}
	if diff := cmp.Diff([]int{512, 0, 512}, got); diff != "" {
		t.Errorf("requests of service accounts (-want +got):\n%s", diff)
	}
}

// TestAdministratorsHavePlaces: whatever others do, an administrator can sign in, and stays so.
func TestAdministratorsHavePlaces(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin, _ := w.Open(session.Credential{Token: "t"}, session.User{Name: "admin", Groups: []string{"admins"}}, time.Time{})
	w.step(time.Minute)
	for i := range 1100 {
		w.open(fmt.Sprintf("robot-%d", i), time.Time{})
	}
	for i := range 50 {
		w.fill(fmt.Sprintf("robot-%d", i))
	}
	if w.Find(admin) == nil {
		t.Error("the session of the administrator has ended for those of others")
	}
	if open, _ := w.fill("admin", "admins"); open < 32 {
		t.Errorf("the administrator has %d places left, want 32 at least", open)
	}
	if open, _ := w.fill("one more"); open != 0 {
		t.Errorf("others got %d of the places for administrators", open)
	}
}

// TestLifetime waits for the end of a session that has almost ended.
func TestLifetime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	value := w.open("eve", w.clock.Now().Add(20*time.Millisecond))
	ctx, done := w.use(value)
	defer done()
	<-ctx.Done()
	if diff := cmp.Diff(context.DeadlineExceeded.Error(), fmt.Sprint(ctx.Err())); diff != "" {
		t.Errorf("open requests end with the session (-want +got):\n%s", diff)
	}
}

// TestFull signs in with so many users that there is no room left: who has the most sessions loses them, and nobody is locked out.
func TestFull(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.open("first", time.Time{})
	greedy := w.open("greedy", time.Time{})
	w.step(time.Second)
	for range 9 {
		w.open("greedy", time.Time{})
	}
	for i := range 989 {
		w.open(fmt.Sprintf("user-%d", i), time.Time{})
	}
	for i := range 9 {
		if last := w.open(fmt.Sprintf("late-%d", i), time.Time{}); w.Find(last) == nil {
			t.Fatalf("the user of sign-in %d has no session", i)
		}
	}
	if w.Find(greedy) != nil {
		t.Error("the user with the most sessions loses the oldest one")
	}
	if w.Find(first) == nil {
		t.Error("a user with one session is not signed out because another one has many")
	}
	w.open("one more", time.Time{})
	if w.Find(first) != nil {
		t.Error("among users with one session, the one that was not used for the longest time ends")
	}
}

func TestCodes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	code, expires := w.NewCode()
	if diff := cmp.Diff(w.clock.Now().Add(time.Minute), expires); diff != "" {
		t.Errorf("a code is valid for a minute (-want +got):\n%s", diff)
	}
	if !w.SpendCode(code) || w.SpendCode(code) || w.SpendCode("") {
		t.Error("a code can be spent once")
	}
	code, _ = w.NewCode()
	w.step(time.Minute)
	if w.SpendCode(code) {
		t.Error("a code of a minute ago is worth nothing")
	}
	oldest, _ := w.NewCode()
	w.step(time.Second)
	for range 100 {
		code, _ = w.NewCode()
	}
	if w.SpendCode(oldest) || !w.SpendCode(code) {
		t.Error("of too many codes the oldest is worth nothing")
	}
}

func TestRenewal(t *testing.T) {
	t.Parallel()
	const lifetime = 10 * time.Minute
	away := errors.New("away")
	for name, tc := range map[string]struct {
		reason  string
		after   time.Duration
		answer  error
		want    error
		token   string
		renewed int
	}{
		"fresh":         {reason: "A token is not renewed before its end is near.", after: 9 * time.Minute, token: "1"},
		"near":          {reason: "Half a minute before its end it is.", after: lifetime - 29*time.Second, token: "2", renewed: 1},
		"away":          {reason: "Until its end it is of use, whatever the issuer does.", after: lifetime - time.Second, answer: away, token: "1", renewed: 1},
		"away too long": {reason: "After its end it is not.", after: lifetime, answer: away, want: away, token: "1", renewed: 1},
		"revoked":       {reason: "Who gets no token any more has no session.", after: lifetime - time.Second, answer: session.ErrEnded, want: session.ErrEnded, token: "1", renewed: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, renewed := newWorld(t), 0
			renew := func(context.Context) (session.Credential, error) {
				renewed++

				return session.Credential{Token: "2"}, tc.answer
			}
			value, s := w.Open(session.Credential{Token: "1", Expires: w.clock.Now().Add(lifetime), Renew: renew}, session.User{Name: "alice"}, time.Time{})
			// A request that goes on, so that the session is not idle.
			if _, done, err := s.Use(t.Context()); err != nil {
				t.Fatal(err)
			} else {
				defer done()
			}
			w.step(tc.after)
			if err := s.Freshen(t.Context()); !errors.Is(err, tc.want) {
				t.Errorf("%s\nFreshen(): %v, want %v", tc.reason, err, tc.want)
			}
			if diff := cmp.Diff([]any{tc.token, tc.renewed}, []any{s.Credential().Token, renewed}); diff != "" {
				t.Errorf("%s\ntoken and renewals (-want +got):\n%s", tc.reason, diff)
			}
			if ended := w.Find(value) == nil; ended != errors.Is(tc.want, session.ErrEnded) {
				t.Errorf("%s\nthe session has ended: %t", tc.reason, ended)
			}
			if _, _, err := s.Use(t.Context()); (err != nil) != (tc.want != nil) {
				t.Errorf("%s\nUse(): %v", tc.reason, err)
			}
		})
	}
}

// TestWatchEndsWithCredential: what was authenticated with a token does not go on after its end.
func TestWatchEndsWithCredential(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, s := w.Open(session.Credential{Token: "1", Expires: w.clock.Now().Add(time.Minute), Renew: func(context.Context) (session.Credential, error) {
		return session.Credential{}, session.ErrEnded
	}}, session.User{Name: "alice"}, time.Time{})
	ctx, done, err := s.Use(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	if until, ok := ctx.Deadline(); !ok || time.Until(until) > time.Minute {
		t.Errorf("a request ends with the token that it began with; its limit is %s", until)
	}
}
