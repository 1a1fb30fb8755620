// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"

	gardenappliancev1alpha1 "github.com/terrarium-garden/terrarium/apis/appliance/v1alpha1"
)

// TestFollowTimeline follows a timeline in a garden that answers each watch in another way. The last one ends the command.
func TestFollowTimeline(t *testing.T) {
	t.Parallel()
	say := func(w http.ResponseWriter, format string, parts ...any) {
		if _, err := fmt.Fprintf(w, format, parts...); err != nil {
			t.Error(err)
		}
	}
	entry := func(version int) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) {
			say(w, `{"type":"ADDED","object":{"apiVersion":"%s","kind":"TimelineEntry","metadata":{"resourceVersion":"%d"}}}`, gardenappliancev1alpha1.GroupVersion, version)
		}
	}
	lost := func(w http.ResponseWriter) {
		say(w, `{"type":"ADDED","obj`)
		panic(http.ErrAbortHandler)
	}
	status := func(code int, reason string) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) {
			w.WriteHeader(code)
			say(w, `{"apiVersion":"v1","kind":"Status","status":"Failure","code":%d,"reason":"%s","message":"no"}`, code, reason)
		}
	}
	gone := func(w http.ResponseWriter) {
		say(w, `{"type":"ERROR","object":{"apiVersion":"v1","kind":"Status","status":"Failure","code":410,"reason":"Expired","message":"too old"}}`)
	}
	for name, tc := range map[string]struct {
		reason  string
		answers []func(http.ResponseWriter)
		want    []string
		fails   string
	}{
		"ends":       {reason: "a watch goes on where the last one was", answers: []func(http.ResponseWriter){entry(5), entry(6)}, want: []string{"after 4: 5", "after 5: 6"}},
		"lost":       {reason: "also when the connection is lost", answers: []func(http.ResponseWriter){entry(5), lost, entry(6)}, want: []string{"after 4: 5", "after 5: 6"}},
		"restarted":  {reason: "and while the garden is restarted", answers: []func(http.ResponseWriter){entry(5), status(503, "ServiceUnavailable"), entry(6)}, want: []string{"after 4: 5", "after 5: 6"}},
		"never well": {reason: "a garden that does not answer at first is told", answers: []func(http.ResponseWriter){status(503, "ServiceUnavailable")}, fails: "follow timeline"},
		"forbidden":  {reason: "so is what does not pass", answers: []func(http.ResponseWriter){entry(5), status(403, "Forbidden")}, want: []string{"after 4: 5"}, fails: "follow timeline"},
		"too old":    {reason: "and what is missed", answers: []func(http.ResponseWriter){entry(5), gone}, want: []string{"after 4: 5"}, fails: "too old"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, end := context.WithCancel(t.Context())
			defer end()
			var asked atomic.Int32
			var version atomic.Value
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				version.Store(r.URL.Query().Get("resourceVersion"))
				n := int(asked.Add(1))
				if n > len(tc.answers) {
					end()
					return
				}
				tc.answers[n-1](w)
			}))
			defer server.Close()
			timelines, err := newApplianceClient(&rest.Config{Host: server.URL, QPS: -1})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			err = (&timelineReader{client: timelines, namespace: "garden-meadow", pause: time.Millisecond}).follow(ctx, "4",
				func(e *gardenappliancev1alpha1.TimelineEntry) error {
					got = append(got, fmt.Sprintf("after %s: %s", version.Load(), e.ResourceVersion))
					return nil
				})
			if (err != nil) != (tc.fails != "") || err != nil && !strings.Contains(err.Error(), tc.fails) {
				t.Errorf("%s\nfollow(...) = %v, want an error with %q", tc.reason, err, tc.fails)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nentries (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
