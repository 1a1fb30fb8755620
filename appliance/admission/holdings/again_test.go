// SPDX-License-Identifier: Apache-2.0

package holdings_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestComesAgain deletes a shoot and makes it again before the first one is forgotten.
func TestComesAgain(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		do     func(*stage)
		want   []string
	}{
		"Again": {reason: "the second one stays when the first one is forgotten", do: func(s *stage) {
			s.removed(is("a", "2", seeds("s", "")))
			s.wrote(is("a", "3", seeds("s", "")))
		}, want: []string{"n/a"}},
		"Twice": {reason: "until it is gone as well", do: func(s *stage) {
			s.removed(is("a", "2", seeds("s", "")))
			s.wrote(is("a", "3", seeds("s", "")))
			s.removed(is("a", "4", seeds("s", "")))
		}},
		"Gone": {reason: "the first one stays away", do: func(s *stage) { s.removed(is("a", "2", seeds("s", ""))) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.wrote(is("a", "1", seeds("s", "")))
			tc.do(s)
			s.pass(2 * time.Minute)
			s.Others("n/x", "s") // Every question forgets what is over.
			if diff := cmp.Diff([][]string{tc.want, tc.want}, [][]string{s.All(), s.On("s")}, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s\nAll() and On(s) (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
