// SPDX-License-Identifier: Apache-2.0

package cloud_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/cloud"
)

// slow answers after a while, with a body that takes a while.
type slow struct{ head, body time.Duration }

func (s slow) RoundTrip(request *http.Request) (*http.Response, error) {
	if err := pass(request.Context(), s.head); err != nil {
		return nil, err
	}
	header := http.Header{"Content-Type": {"application/json"}}
	return &http.Response{StatusCode: http.StatusOK, Header: header, Body: io.NopCloser(dripping{request.Context(), s.body})}, nil
}

type dripping struct {
	ctx  context.Context
	body time.Duration
}

func (d dripping) Read([]byte) (int, error) {
	if err := pass(d.ctx, d.body); err != nil {
		return 0, err
	}
	return 0, io.EOF
}

func pass(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// ask sends a request, reads the answer, and reports how long that took.
func ask(t *testing.T, through http.RoundTripper, query string) (time.Duration, error) {
	t.Helper()
	begin := time.Now()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://cloud.example.com/"+query, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := through.RoundTrip(request)
	if err == nil {
		_, err = io.ReadAll(response.Body)
		_ = response.Body.Close()
	}
	return time.Since(begin), err
}

// answer is how a request ended, and how long that took.
type answer struct {
	After time.Duration
	Error string
}

func answered(took time.Duration, err error) answer {
	if err != nil {
		return answer{After: took, Error: err.Error()}
	}
	return answer{After: took}
}

// TestSlowServers: one that answers late, in whatever way, is left alone for a moment, so that it holds up nobody but its owner.
func TestSlowServers(t *testing.T) {
	t.Parallel()
	for reason, tc := range map[string]struct {
		server slow
		takes  time.Duration
		want   string
		then   string
	}{
		"in time":          {server: slow{head: time.Second, body: 500 * time.Millisecond}, takes: 1500 * time.Millisecond},
		"late":             {server: slow{head: 9 * time.Second}, takes: 9 * time.Second, then: "no answer a moment ago: the last answer took more than 2s"},
		"in drops":         {server: slow{body: 9 * time.Second}, takes: 9 * time.Second, then: "no answer a moment ago: the last answer took more than 2s"},
		"never":            {server: slow{head: time.Hour}, takes: 10 * time.Second, want: "canceled", then: "no answer a moment ago: no answer within 10s"},
		"without an end":   {server: slow{body: time.Hour}, takes: 10 * time.Second, want: "no answer within 10s", then: "no answer a moment ago: the last answer took more than 2s"},
		"soon, next time ": {server: slow{}},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				limited := cloud.Limit(tc.server)
				took, err := ask(t, limited, "")
				if took != tc.takes || (err == nil) != (tc.want == "") {
					t.Errorf("the first request ends after %s: %v", took, err)
				}
				again := answer{Error: tc.then}
				if tc.then == "" {
					again.After = tc.takes
				}
				if diff := cmp.Diff(again, answered(ask(t, limited, ""))); diff != "" {
					t.Errorf("the second request (-want +got):\n%s", diff)
				}
				if tc.then == "" {
					return
				}
				time.Sleep(5 * time.Second)
				if later, _ := ask(t, limited, ""); later != tc.takes {
					t.Errorf("after the pause, the server is asked for %s", later)
				}
			})
		})
	}
}

// TestTurns: of many who ask the same server at the same time, two wait for it.
func TestTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		limited := cloud.Limit(slow{head: time.Second})
		for range 2 {
			go func() { _, _ = ask(t, limited, "") }()
		}
		synctest.Wait()
		took, err := ask(t, limited, "")
		if _, waits := kit.WaitReason(err); took != 500*time.Millisecond || !waits {
			t.Errorf("the third request ends after %s: %v", took, err)
		}
		time.Sleep(time.Second)
		if diff := cmp.Diff(answer{After: time.Second}, answered(ask(t, limited, ""))); diff != "" {
			t.Errorf("a request when the others have ended (-want +got):\n%s", diff)
		}
	})
}

// TestWatches last, and hold up nobody.
func TestWatches(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		limited := cloud.Limit(slow{body: time.Minute})
		for range 3 {
			go func() {
				if diff := cmp.Diff(answer{After: time.Minute}, answered(ask(t, limited, "?watch=true"))); diff != "" {
					t.Errorf("a watch (-want +got):\n%s", diff)
				}
			}()
		}
		time.Sleep(2 * time.Minute)
	})
}

// TestRedirections are refused, whatever the client does with them.
func TestRedirections(t *testing.T) {
	t.Parallel()
	limited := cloud.Limit(redirecting{})
	for range 3 {
		if _, err := ask(t, limited, ""); err == nil || !strings.Contains(err.Error(), "302, a redirection") {
			t.Errorf("RoundTrip(...) = %v", err)
		}
	}
}

type redirecting struct{}

func (redirecting) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusFound, Header: http.Header{"Location": {"/stolen"}, "Content-Type": {"application/json"}}, Body: http.NoBody}, nil
}
