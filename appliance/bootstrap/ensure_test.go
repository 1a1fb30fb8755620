// SPDX-License-Identifier: Apache-2.0

package bootstrap_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/terrarium-garden/terrarium/appliance/bootstrap"
)

// TestEnsureFails covers what a whole garden does not show; what is made is tried in tests/integration/server.
func TestEnsureFails(t *testing.T) {
	t.Parallel()

	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "no", http.StatusServiceUnavailable)
	}))
	t.Cleanup(refusing.Close)
	cases := map[string]struct {
		reason string
		config bootstrap.Config
		want   string
	}{
		"Empty": {
			reason: "A garden without a version would be refused by gardenlets.",
			want:   "loopback, API level and identity: must be set",
		},
		"ServerRefuses": {
			reason: "The object is named.",
			config: bootstrap.Config{
				Loopback: &rest.Config{Host: refusing.URL}, APILevel: "v1", NewIdentity: func() string { return "x" },
			},
			want: `apply namespaces "ga`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			_, err := bootstrap.Ensure(t.Context(), tc.config)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s\nEnsure(...): got error %v, want one with %q", tc.reason, err, tc.want)
			}
		})
	}
}
