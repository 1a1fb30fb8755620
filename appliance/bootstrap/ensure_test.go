// SPDX-License-Identifier: Apache-2.0

package bootstrap_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
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
			want:   "create first objects: loopback, API level and identity: must be set",
		},
		"ServerRefuses": {
			reason: "The object is named.",
			config: bootstrap.Config{
				Loopback: &rest.Config{Host: refusing.URL}, APILevel: "v1", NewIdentity: func() string { return "x" },
			},
			want: `create namespaces "<namespace>": the server is currently unable to handle the request`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			_, err := bootstrap.Ensure(t.Context(), tc.config)
			got := regexp.MustCompile(`"garden[a-z-]*"`).ReplaceAllString(fmt.Sprint(err), `"<namespace>"`)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nEnsure(...): error (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
