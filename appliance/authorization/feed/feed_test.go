// SPDX-License-Identifier: Apache-2.0

package feed_test

import (
	"context"
	"io"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	clocktesting "k8s.io/utils/clock/testing"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/authorization/feed"
	"github.com/terrarium-garden/terrarium/appliance/authorization/graph"
	"github.com/terrarium-garden/terrarium/appliance/authorization/references"
	"github.com/terrarium-garden/terrarium/appliance/authorization/selfhosted"
)

// fake is a source of which a test writes the events.
func fake(list runtime.Object) (*cache.ListWatch, *watch.FakeWatcher) {
	events := watch.NewFake()

	return &cache.ListWatch{
		ListWithContextFunc:  func(context.Context, metav1.ListOptions) (runtime.Object, error) { return list, nil },
		WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) { return events, nil },
	}, events
}

func shoot(name, seed string) *gardencorev1beta1.Shoot {
	s := &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: name, ResourceVersion: "1"}}
	s.Spec.SeedName = &seed

	return s
}

var _ runtime.CacheableObject = wrapped{}

// wrapped is an object as a server's cache hands it out to many.
type wrapped struct {
	runtime.Object
	metav1.ObjectMetaAccessor
}

func (wrapped) CacheEncode(runtime.Identifier, func(runtime.Object, io.Writer) error, io.Writer) error {
	return nil
}

func (w wrapped) GetObject() runtime.Object { return w.Object }

func TestFeed(t *testing.T) {
	t.Parallel()
	g := graph.New()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	f := feed.New(feed.Config{Graph: g, Shoots: selfhosted.New(), Clock: clocktesting.NewFakePassiveClock(now), Updated: func(graph.Kind, string, time.Duration) {}})
	first := &gardencorev1beta1.ShootList{Items: []gardencorev1beta1.Shoot{*shoot("first", "north")}}
	first.ResourceVersion = "1"
	shootSource, shoots := fake(first)
	seedSource, seeds := fake(&gardencorev1beta1.SeedList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}})
	managedSource, managed := fake(&gardenseedmanagementv1alpha1.ManagedSeedList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}})
	f.Watch(graph.Shoot, shootSource)
	f.Watch(graph.Seed, seedSource)
	f.Watch(graph.ManagedSeed, managedSource)
	if f.Synced() {
		t.Error("a feed that has not begun knows nothing")
	}
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
	await := func(reason string, is func() bool) {
		t.Helper()
		holds := func(context.Context) (bool, error) { return is(), nil }
		if err := wait.PollUntilContextTimeout(ctx, time.Millisecond, 10*time.Second, true, holds); err != nil {
			t.Fatalf("%s: %v", reason, err)
		}
	}
	await("all sources are listed", f.Synced)
	at := func(name string) graph.Vertex {
		return graph.Vertex{Kind: graph.Shoot, Namespace: "garden", Name: name}
	}
	await("what was there is known", func() bool { return g.BelongsTo(at("first"), "north") })
	shoots.Add(shoot("second", "north"))
	await("GAC-GR-1: what comes is known", func() bool { return g.BelongsTo(at("second"), "north") })
	moved := shoot("second", "south")
	shoots.Modify(wrapped{Object: moved, ObjectMetaAccessor: moved})
	await("GAC-GR-10: what moves is known, also when the server's cache has wrapped it", func() bool {
		return g.BelongsTo(at("second"), "south") && !g.BelongsTo(at("second"), "north")
	})
	shoots.Delete(moved)
	await("GAC-GR-11: what goes is forgotten", func() bool { return !g.BelongsTo(at("second"), "south") })

	reaching := shoot("reaching", "north")
	for _, name := range []string{"other.ca-client", "credentials"} {
		r := gardencorev1beta1.NamedResourceReference{Name: name}
		r.ResourceRef.Kind, r.ResourceRef.Name = "InternalSecret", name
		reaching.Spec.Resources = append(reaching.Spec.Resources, r)
	}
	internal := func(name string) graph.Vertex {
		return graph.Vertex{Kind: graph.InternalSecret, Namespace: "garden", Name: name}
	}
	shoots.Add(reaching)
	await("GAC-GR-2: an InternalSecret with credentials belongs to the shoot", func() bool { return g.BelongsTo(internal("credentials"), "north") })
	if g.BelongsTo(internal("other.ca-client"), "north") {
		t.Error("GAC-GR-2: the client CA of another shoot belongs to a shoot that names it")
	}

	nursery := &gardenseedmanagementv1alpha1.ManagedSeed{ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: "nursery", ResourceVersion: "1"}}
	nursery.Spec.Shoot = &gardenseedmanagementv1alpha1.Shoot{Name: "first"}
	token := graph.Vertex{Kind: graph.Secret, Namespace: "kube-system", Name: references.BootstrapTokenSecret("garden", "nursery")}
	managed.Add(nursery)
	await("GAC-GR-8: a managed seed may join", func() bool { return g.BelongsTo(token, "north") })
	joined := &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: "nursery", ResourceVersion: "1"}}
	joined.Status.ClientCertificateExpirationTimestamp = &metav1.Time{Time: now.Add(time.Hour)}
	seeds.Add(joined)
	await("GAC-GR-8: once it has joined, its token is none of its parent's business", func() bool { return !g.BelongsTo(token, "north") })
	got := map[string]bool{"token": g.BelongsTo(token, "north"), "Seed": g.BelongsTo(graph.Vertex{Kind: graph.Seed, Name: "nursery"}, "north")}
	if diff := cmp.Diff(map[string]bool{"token": false, "Seed": true}, got); diff != "" {
		t.Errorf("GAC-GR-8: only the Seed of a managed seed that has joined belongs to the parent (-want +got):\n%s", diff)
	}
	seeds.Delete(joined)
	await("GAC-GR-8: it may join again when its Seed is gone", func() bool { return g.BelongsTo(token, "north") })
	managed.Delete(nursery)
	await("GAC-GR-11: a managed seed that is gone has no token", func() bool { return !g.BelongsTo(token, "north") })
}

// TestOneOrderOfEdges writes a ManagedSeed and its Seed at once. Two sources deliver them, and whichever is last must not set the edges of
// what the other one has seen before.
func TestOneOrderOfEdges(t *testing.T) {
	t.Parallel()
	const rounds, crowd = 200, 1000
	g := graph.New()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	f := feed.New(feed.Config{Graph: g, Shoots: selfhosted.New(), Clock: clocktesting.NewFakePassiveClock(now), Updated: func(graph.Kind, string, time.Duration) {}})
	named := func(secret string) *gardenseedmanagementv1alpha1.ManagedSeed {
		m := &gardenseedmanagementv1alpha1.ManagedSeed{ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: "nursery"}}
		m.Spec.Shoot, m.Spec.SeedTemplate = &gardenseedmanagementv1alpha1.Shoot{Name: "first"}, &gardencorev1beta1.SeedTemplate{}
		m.Spec.SeedTemplate.Spec.SecretRef = &corev1.SecretReference{Namespace: "garden", Name: secret}

		return m
	}
	token := graph.Vertex{Kind: graph.Secret, Namespace: "kube-system", Name: references.BootstrapTokenSecret("garden", "nursery")}
	ends := func(after time.Duration) *gardencorev1beta1.Seed {
		s := &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: "nursery"}}
		s.Status.ClientCertificateExpirationTimestamp = &metav1.Time{Time: now.Add(after)}

		return s
	}
	busy := graph.Vertex{Kind: graph.Shoot, Namespace: "garden", Name: "busy"}
	var much []graph.Edge
	for n := range crowd {
		much = append(much, graph.Edge{From: graph.Vertex{Kind: graph.Secret, Namespace: "garden", Name: strconv.Itoa(n)}, To: busy})
	}
	// Both often wait until the graph has taken over much else, and then go on at once.
	ctx, cancel := context.WithCancel(t.Context())
	var others sync.WaitGroup
	defer others.Wait()
	defer cancel()
	others.Go(func() {
		for n := 0; ctx.Err() == nil; n++ {
			g.Set(busy, much[:n%2*crowd])
		}
	})
	managed, seeds := f.Handler(graph.ManagedSeed), f.Handler(graph.Seed)
	f.Handler(graph.Shoot).OnAdd(shoot("first", "north"), true)
	for round := range rounds {
		valid := round%2 == 0
		seed := ends(-time.Hour)
		if valid {
			seed = ends(time.Hour)
		}
		var all sync.WaitGroup
		nursery := named(strconv.Itoa(round))
		all.Go(func() { seeds.OnUpdate(seed, seed) })
		all.Go(func() { managed.OnUpdate(nursery, nursery) })
		all.Wait()
		if joins := g.BelongsTo(token, "north"); joins == valid {
			t.Fatalf("GAC-GR-8: round %d: the certificate is valid: %t, and the token for joining belongs to the parent: %t", round, valid, joins)
		}
	}
}
