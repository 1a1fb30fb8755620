// SPDX-License-Identifier: Apache-2.0

package metrics_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/authorization/feed"
	"github.com/terrarium-garden/terrarium/appliance/authorization/graph"
	"github.com/terrarium-garden/terrarium/appliance/authorization/metrics"
	"github.com/terrarium-garden/terrarium/appliance/authorization/seedauthorizer"
	"github.com/terrarium-garden/terrarium/appliance/authorization/selfhosted"
)

// counts returns how often each series of the histograms was observed, by name and labels. Series that were never are left out.
func counts(t *testing.T, registry *prometheus.Registry) map[string]uint64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]uint64{}
	for _, family := range families {
		for _, series := range family.GetMetric() {
			name := family.GetName()
			for _, label := range series.GetLabel() {
				name += " " + label.GetName() + "=" + label.GetValue()
			}
			if n := series.GetHistogram().GetSampleCount(); n > 0 {
				all[name] = n
			}
		}
	}

	return all
}

// TestMeasured_GAC_GR_12 lets a shoot come, change and go, and asks for it once in between.
func TestMeasured_GAC_GR_12(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	m, err := metrics.Register(registry)
	if err != nil {
		t.Fatal(err)
	}
	g, events := graph.New(), watch.NewFake()
	f := feed.New(feed.Config{Graph: g, Shoots: selfhosted.New(), Clock: clock.RealClock{}, Updated: m.Updated})
	f.Watch(graph.Shoot, &cache.ListWatch{
		ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
			return &gardencorev1beta1.ShootList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}}, nil
		},
		WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) { return events, nil },
	})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		f.Run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})

	shoot := &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-meadow", Name: "rose", ResourceVersion: "2"}}
	shoot.Spec.SeedName = new("north")
	events.Add(shoot)
	events.Modify(shoot.DeepCopy())
	vertex := graph.Vertex{Kind: graph.Shoot, Namespace: "garden-meadow", Name: "rose"}
	await := func(what string, is func() bool) {
		t.Helper()
		holds := func(context.Context) (bool, error) { return is(), nil }
		if err := wait.PollUntilContextTimeout(ctx, time.Millisecond, 10*time.Second, true, holds); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	await("the shoot is known", func() bool { return g.BelongsTo(vertex, "north") })
	a := seedauthorizer.New(seedauthorizer.Config{Graph: g, Clock: clock.RealClock{}, Searched: m.Searched})
	decision, reason, err := a.Authorize(ctx, authorizer.AttributesRecord{
		User: &user.DefaultInfo{Name: "gardener.cloud:system:seed:north", Groups: []string{"gardener.cloud:system:seeds"}},
		Verb: "get", APIGroup: "core.gardener.cloud", Resource: "shoots", Namespace: "garden-meadow", Name: "rose", ResourceRequest: true,
	})
	if err != nil || decision != authorizer.DecisionAllow {
		t.Fatalf("Authorize(...) = %v, %q, %v, want that the seed may read its shoot", decision, reason, err)
	}
	events.Delete(shoot)
	await("the shoot is forgotten", func() bool { return !g.Knows(vertex) })

	const (
		updates  = "gardener_admission_controller_seed_authorizer_graph_update_duration_seconds"
		searches = "gardener_admission_controller_seed_authorizer_graph_path_check_duration_seconds"
	)
	want := map[string]uint64{
		updates + " kind=Shoot operation=CREATE": 1, updates + " kind=Shoot operation=UPDATE": 1, updates + " kind=Shoot operation=DELETE": 1,
		searches + " fromKind=Shoot toKind=Seed": 1,
	}
	await("the last update is measured", func() bool { return len(counts(t, registry)) == len(want) })
	if diff := cmp.Diff(want, counts(t, registry)); diff != "" {
		t.Errorf("measurements (-want +got):\n%s", diff)
	}
}
