// SPDX-License-Identifier: Apache-2.0

package kit_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terrarium-garden/terrarium/controllers/kit"
)

func TestLeaveOut(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		names  []string
		want   string
	}{
		"none":  {reason: "all controllers run"},
		"known": {reason: "one of them does not", names: []string{"event"}},
		"typo":  {reason: "a name that no controller has is an error that tells those that there are", names: []string{"event", "evnt"}, want: `no controller is called "evnt"; there are: event, project`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out := kit.NewLeaveOut(tc.names)
			for _, controller := range []string{"project", "event", "project"} {
				out.Has(controller)
			}
			got := ""
			if err := out.Check(); err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("GCM-PROC-4: %s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
