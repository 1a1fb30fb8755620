// SPDX-License-Identifier: Apache-2.0

package kubecontrollers_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terrarium-garden/terrarium/appliance/kubecontrollers"
)

func TestRunRefuses(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		config kubecontrollers.Config
		want   string
	}{
		"Empty": {
			reason: "A loop without a period would spin.",
			want: "configure loops: loopback and identity: must be set\n" +
				"certificate lifetime, resync and discovery: must be positive, see NewConfig",
		},
		"NoConnection": {
			reason: "What has one right value is set by NewConfig, the rest is named.",
			config: kubecontrollers.NewConfig(),
			want:   "configure loops: loopback and identity: must be set",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			err := kubecontrollers.Run(t.Context(), tc.config, func() { t.Errorf("%s\nRun(...) calls ready", tc.reason) })
			if err == nil {
				t.Fatalf("%s\nRun(...): got no error", tc.reason)
			}
			if diff := cmp.Diff(tc.want, err.Error()); diff != "" {
				t.Errorf("%s\nRun(...) (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
