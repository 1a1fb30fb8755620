// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
)

// TestPlain asks without TLS. The library would do so for all private addresses.
func TestPlain(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		registry, url string
		want          error
	}{
		{"localhost:5000", "http://localhost:5000/v2/", nil},
		{"127.0.0.1:5000", "http://127.0.0.1:5000/v2/", nil},
		{"[::1]:5000", "http://[::1]:5000/v2/", nil},
		{"127.0.0.1:5000", "http://10.0.0.1/layer", errPlain},
		{"10.0.0.1:5000", "http://10.0.0.1:5000/v2/", errPlain},
		{"10.0.0.1:5000", "http://127.0.0.1/metrics", errPlain},
		{"10.0.0.1:5000", "https://10.0.0.1:5000/v2/", nil},
		{"charts.local", "http://charts.local/v2/", errPlain},
		{"example.org", "http://example.org/v2/", errPlain},
		{"localhost.example.org", "http://localhost.example.org/v2/", errPlain},
	} {
		registry, err := name.NewRegistry(tc.registry)
		if err != nil {
			t.Fatal(err)
		}
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, tc.url, strings.NewReader(""))
		if err != nil {
			t.Fatal(err)
		}
		if err := NewTransport(Config{Registry: registry}).check(request); !errors.Is(err, tc.want) {
			t.Errorf("request of %s for registry %s: got error %v, want %v", tc.url, tc.registry, err, tc.want)
		}
	}
}
