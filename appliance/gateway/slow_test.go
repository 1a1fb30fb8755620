// SPDX-License-Identifier: Apache-2.0

package gateway_test

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/terrarium-garden/terrarium/appliance/gateway"
)

// TestClientThatReadsNothing requests a large file by the only place and reads nothing of it.
func TestClientThatReadsNothing(t *testing.T) {
	t.Parallel()
	for name, request := range map[string]func(t *testing.T, server *httptest.Server){
		"HTTP/1.1": func(t *testing.T, server *httptest.Server) {
			t.Helper()
			server.Start()
			connection, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", server.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { connection.Close() }) //nolint:errcheck // Nothing was read from it.
			if _, err := fmt.Fprint(connection, "GET /file HTTP/1.1\r\nHost: garden\r\n\r\n"); err != nil {
				t.Fatal(err)
			}
		},
		"HTTP/2": func(t *testing.T, server *httptest.Server) {
			t.Helper()
			server.EnableHTTP2 = true
			server.StartTLS()
			question, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/file", nil)
			if err != nil {
				t.Fatal(err)
			}
			// The window of the stream opens again only when the body is read.
			answer, err := server.Client().Do(question)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { answer.Body.Close() }) //nolint:errcheck // Nothing was read from it.
			if answer.ProtoMajor != 2 {
				t.Fatalf("the answer came by %s", answer.Proto)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ended := make(chan error, 1)
			server := httptest.NewUnstartedServer(large(ended))
			t.Cleanup(server.Close)
			request(t, server)
			select {
			case err := <-ended:
				if err == nil {
					t.Error("64 MiB were written to a client that reads nothing")
				}
			case <-time.After(20 * time.Second):
				t.Error("a client that reads nothing keeps its place")
			}
		})
	}
}

// large serves a file that fits into no buffer, and tells how its writing ended.
func large(ended chan<- error) http.Handler {
	file := bytes.Repeat([]byte("x"), 64<<20)

	return gateway.Mounts{{
		Path: "/file", Who: gateway.Everybody, Limits: gateway.Limits{Parallel: 1, Within: 200 * time.Millisecond},
		Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, err := w.Write(file)
			ended <- err
		}),
	}}.Before(gateway.Everybody, says("api"))
}

// deadlines is a response of a connection that keeps what deadlines it was given.
type deadlines struct {
	*httptest.ResponseRecorder

	set []bool
}

func (d *deadlines) SetWriteDeadline(at time.Time) error {
	d.set = append(d.set, !at.IsZero())

	return nil
}

// TestDeadlines asks for the deadlines that a connection gets.
func TestDeadlines(t *testing.T) {
	t.Parallel()
	mounts := gateway.Mounts{
		gateway.Document("/document", "text/plain", func() []byte { return nil }),
		{Path: "/stream", Who: gateway.Everybody, Handler: says("stream")},
	}.Before(gateway.Everybody, says("api"))
	for path, tc := range map[string]struct {
		reason string
		want   []bool
	}{
		"/document": {"the deadline of a document does not last for the next request", []bool{true, false}},
		"/stream":   {"a stream has none", nil},
		"/api":      {"nor has the API", nil},
	} {
		w := &deadlines{ResponseRecorder: httptest.NewRecorder()}
		mounts.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
		if diff := cmp.Diff(tc.want, w.set); diff != "" {
			t.Errorf("%s\ndeadlines of %s (-want +got):\n%s", tc.reason, path, diff)
		}
	}
}
