// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/server"
)

// TestRunRefuses covers the options alone; a running server is tried in tests/integration/server.
func TestRunRefuses(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason  string
		options server.Options
		want    string
	}{
		"Empty": {
			reason: "Everything that is missing is named at once.",
			want:   "run server: configuration: must be set\nversion: must be set",
		},
		"NoDirectory": {
			reason:  "A data directory of no name would be the working directory.",
			options: server.Options{Version: "v1", Config: &gardenconfigv1alpha1.ServerConfiguration{Listen: ":0"}},
			want:    "run server: configuration: data directory and listen address must be set",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			err := server.Run(t.Context(), tc.options)
			if err == nil {
				t.Fatalf("%s\nRun(...): got no error", tc.reason)
			}
			if diff := cmp.Diff(tc.want, err.Error()); diff != "" {
				t.Errorf("%s\nRun(...) (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
