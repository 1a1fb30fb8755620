// SPDX-License-Identifier: Apache-2.0

package log

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	testingclock "k8s.io/utils/clock/testing"
)

// TestRetriedRemoval: a removal that failed is tried again, but not in place of that of a newer lease of the same key.
func TestRetriedRemoval(t *testing.T) {
	t.Parallel()
	clock := testingclock.NewFakeClock(time.Unix(1000, 0))
	l := newLeases(clock)
	l.set(head{key: "/renewed", revision: 2, expires: 1000})
	l.set(head{key: "/ended", revision: 3, expires: 1000})
	failed, _ := l.due(10)
	l.set(head{key: "/renewed", revision: 4, expires: 1100})
	for _, h := range failed {
		h.expires = 1005
		l.retry(h)
	}
	ending := map[string]int64{}
	clock.Step(time.Hour)
	all, _ := l.due(10)
	for _, h := range all {
		ending[h.key] = h.revision
	}
	if diff := cmp.Diff(map[string]int64{"/renewed": 4, "/ended": 3}, ending); diff != "" {
		t.Errorf("the revisions that end (-want +got):\n%s", diff)
	}
}
