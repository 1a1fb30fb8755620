// SPDX-License-Identifier: Apache-2.0

package webhooks_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/terrarium-garden/terrarium/controllers/resourcemanager/webhooks"
)

// most is how long a request may be, and shoots how many may send as much at one time.
const most, shoots = 3 << 20, 12

// TestRequestsAreBounded: an owner can have one pod sent to a hundred webhooks at once. That costs him his own requests, and bounded memory.
func TestRequestsAreBounded(t *testing.T) {
	t.Parallel()
	door := webhooks.NewDoor(nil, clock.RealClock{})
	enter := func(namespace string, length int64, want int) func() {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		leave, got := door.Enter(ctx, namespace, length)
		if got != want {
			t.Fatalf("a request of %s with %d bytes: got status %d, want %d", namespace, length, got, want)
		}
		return leave
	}
	enter("a", most+1, http.StatusRequestEntityTooLarge)
	leaveA := enter("a", most, 0)
	enter("a", 1, http.StatusTooManyRequests)
	leaveB := enter("b", -1, 0) // Its length is not known.
	enter("b", 1, http.StatusTooManyRequests)
	var leaves []func()
	for range most / (64 << 10) {
		leaves = append(leaves, enter("c", 0, 0))
	}
	enter("c", 0, http.StatusTooManyRequests)
	for n := range shoots - 3 {
		leaves = append(leaves, enter(fmt.Sprint("full", n), most, 0))
	}
	enter("e", 1, http.StatusServiceUnavailable)
	leaveA()
	enter("e", most, 0)()
	enter("a", most, 0)()
	for _, leave := range append(leaves, leaveB) {
		leave()
	}
	for n := range shoots {
		defer enter(fmt.Sprint("again", n), most, 0)()
	}
}

// TestSlowRequests end in time, and long ones are not read: the handler behind the door sees an error instead of the body.
func TestSlowRequests(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		now    time.Time
		body   io.Reader
		fails  bool
	}{
		"Good": {reason: "it has all that it says", now: time.Now(), body: bytes.NewReader(make([]byte, most))},
		"Slow": {reason: "its time is over", now: time.Now().Add(-time.Minute), body: slow(t), fails: true},
		// Without a length, it is seen only when it is read.
		"Long": {reason: "it goes on", now: time.Now(), body: io.MultiReader(bytes.NewReader(make([]byte, most+1))), fails: true},
	} {
		door := webhooks.NewDoor(func(context.Context, string) ([]string, error) { return nil, nil }, clocktesting.NewFakePassiveClock(tc.now))
		read := make(chan error, 1)
		server := httptest.NewTLSServer(door.Guard(http.HandlerFunc(func(_ http.ResponseWriter, request *http.Request) {
			_, err := io.Copy(io.Discard, request.Body)
			read <- err
		})))
		config := &tls.Config{InsecureSkipVerify: true, ServerName: "gardener-resource-manager.shoot--dev--a.svc"}
		c := &http.Client{Transport: &http.Transport{TLSClientConfig: config}}
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, tc.body)
		if err != nil {
			t.Fatal(err)
		}
		if answer, err := c.Do(request); err == nil {
			_ = answer.Body.Close()
		}
		if err := <-read; (err != nil) != tc.fails {
			t.Errorf("%s: %s\ngot error %v", name, tc.reason, err)
		}
		c.CloseIdleConnections()
		server.Close()
	}
}

// slow is a body of which nothing comes before the test ends.
func slow(t *testing.T) io.Reader {
	t.Helper()
	r, w := io.Pipe()
	t.Cleanup(func() { _ = w.Close() })
	return r
}
