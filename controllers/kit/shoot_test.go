// SPDX-License-Identifier: Apache-2.0

package kit_test

import (
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/terrarium-garden/terrarium/controllers/secrets"
)

// TestTry has an API server pass on what a stranger's program answers.
func TestTry(t *testing.T) {
	t.Parallel()
	var lured atomic.Int32
	trap := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { lured.Add(1) }))
	t.Cleanup(trap.Close)
	const long = 1 << 20
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("Authorization") != "Bearer key":
			w.WriteHeader(http.StatusUnauthorized)
		case r.URL.Path == "/good":
		case r.URL.Path == "/lure":
			http.Redirect(w, r, trap.URL, http.StatusFound)
		default:
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = fmt.Fprint(w, "no tunnel", strings.Repeat("!", long)) // The reader may have gone.
		}
	}))
	t.Cleanup(server.Close)
	h := newHotbed(t)
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	kubeconfig, err := secrets.Kubeconfig(secrets.KubeconfigSpec{Context: "a", Server: server.URL, CA: authority, Token: "key"})
	if err != nil {
		t.Fatal(err)
	}
	h.admit(t, kubeconfig)
	shoot := h.get(t, sprout)
	if err := shoot.Try(t.Context(), "/good"); err != nil {
		t.Errorf("Try(/good) = %v", err)
	}
	for path, want := range map[string]string{"/lure": "302 Found", "/bad": "503 Service Unavailable: \"no tunnel!"} {
		err := shoot.Try(t.Context(), path)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) || len(err.Error()) > 2<<10 {
			t.Errorf("Try(%s) = %.200v, want a short error with %q", path, err, want)
		}
	}
	if lured.Load() > 0 {
		t.Error("a redirection was followed to where its author wants")
	}
	server.Close()
	if err := shoot.Try(t.Context(), "/good"); err == nil {
		t.Error("nobody answers, and that is no error")
	}
}
