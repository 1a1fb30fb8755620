// SPDX-License-Identifier: Apache-2.0

package fresh_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/cacher/metrics"
	"k8s.io/component-base/metrics/testutil"

	"github.com/terrarium-garden/terrarium/storage/log"
)

// TestWatchCacheIsBounded writes much more in a short time than a watch cache may remember. It keeps its smallest number of
// changes, and those who are further behind go on with the log.
func TestWatchCacheIsBounded(t *testing.T) {
	t.Parallel()

	// least is the number of changes that any watch cache remembers.
	const changes, least = 1000, 100
	metrics.Register()
	p := openWith(t, getter{own: registry.StorageWithCacher(), name: "bounded-configmaps"}, file(t), func(c *log.Config) { c.HistoryBytes = 256 << 10 })
	text := strings.Repeat("x", 2<<10)
	start := p.set(t, "hot", "first").ResourceVersion
	for n := range changes {
		p.set(t, "hot", text, strconv.Itoa(n))
	}
	w := p.watch(t, prefix, start, storage.Everything)
	for n := range changes {
		e := next(t, w)
		if one, ok := plain(e).(*thing); !ok || one.Data[strconv.Itoa(n)] == "" {
			t.Fatalf("Nothing is missing.\nchange %d: received %v %v", n, e.Type, e.Object)
		}
	}
	remembered, err := testutil.GetGaugeMetricValue(metrics.WatchCacheCapacity.WithLabelValues("", "bounded-configmaps"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(float64(least), remembered); diff != "" {
		t.Errorf("What a watch cache remembers is bounded by its size.\ncapacity in changes (-want +got):\n%s", diff)
	}
}
