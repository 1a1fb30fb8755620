// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRotationIsAskedFor looks at what the server is asked for.
func TestRotationIsAskedFor(t *testing.T) {
	t.Parallel()

	for name, tc := range map[string]struct {
		reason string
		args   []string
		want   string
	}{
		"Start":    {"Nothing holds up a start, and the server refuses to force it.", []string{"start"}, `{"phase":"start","rotate":"serviceAccountKey"}`},
		"Complete": {"Nothing is forced without the flag.", []string{"complete"}, `{"phase":"complete","rotate":"serviceAccountKey"}`},
		"Forced":   {"The flag forces.", []string{"complete", "--force"}, `{"force":true,"phase":"complete","rotate":"serviceAccountKey"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := startGarden(t)
			args := append([]string{"certificate", "rotate-service-account-key", "--data-dir", g.Dir}, tc.args...)
			if r := g.world().run(t, args...); r.status != 0 {
				t.Fatalf("%s\nstatus = %d, errors = %q", tc.reason, r.status, r.errors)
			}
			g.mu.Lock()
			defer g.mu.Unlock()
			if diff := cmp.Diff([]string{tc.want}, g.rotations); diff != "" {
				t.Errorf("%s\nrequests (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
