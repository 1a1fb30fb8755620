// SPDX-License-Identifier: Apache-2.0

package graph_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terrarium-garden/terrarium/appliance/authorization/graph"
)

func v(kind graph.Kind, namespace, name string) graph.Vertex {
	return graph.Vertex{Kind: kind, Namespace: namespace, Name: name}
}

// meadow is a garden with two seeds, one shoot each, and a managed seed.
func meadow() *graph.Graph {
	g := graph.New()
	seedNorth, seedSouth := v(graph.Seed, "", "north"), v(graph.Seed, "", "south")
	for shoot, seed := range map[graph.Vertex]graph.Vertex{
		v(graph.Shoot, "garden-meadow", "sprout"): seedNorth,
		v(graph.Shoot, "garden-meadow", "tree"):   seedSouth,
		v(graph.Shoot, "garden", "nursery"):       seedNorth,
	} {
		g.Set(shoot, []graph.Edge{
			{From: shoot, To: seed},
			{From: v(graph.Namespace, "", shoot.Namespace), To: shoot},
			{From: v(graph.CloudProfile, "", "local"), To: shoot},
			{From: v(graph.SecretBinding, shoot.Namespace, "of-"+shoot.Name), To: shoot},
		})
	}
	binding := v(graph.SecretBinding, "garden-meadow", "of-sprout")
	g.Set(binding, []graph.Edge{{From: v(graph.Secret, "garden-meadow", "credentials"), To: binding}})
	managed := v(graph.ManagedSeed, "garden", "nursery")
	g.Set(managed, []graph.Edge{
		{From: managed, To: v(graph.Shoot, "garden", "nursery")},
		{From: v(graph.Seed, "", "nursery"), To: managed},
	})
	g.Set(v(graph.Project, "", "meadow"), []graph.Edge{{From: v(graph.Project, "", "meadow"), To: v(graph.Namespace, "", "garden-meadow")}})

	return g
}

func TestBelongsTo(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		object graph.Vertex
		seed   string
		want   bool
	}{
		"GAC-SA-2 near":           {"a shoot belongs to its seed", v(graph.Shoot, "garden-meadow", "sprout"), "north", true},
		"GAC-SA-2 far":            {"what a shoot's binding refers to belongs to its seed", v(graph.Secret, "garden-meadow", "credentials"), "north", true},
		"GAC-SA-2 not far":        {"and to no other", v(graph.Secret, "garden-meadow", "credentials"), "south", false},
		"GAC-SA-2 foreign":        {"a shoot does not belong to another seed", v(graph.Shoot, "garden-meadow", "tree"), "north", false},
		"GAC-SA-2 shared":         {"what two shoots use belongs to both seeds", v(graph.CloudProfile, "", "local"), "south", true},
		"GAC-SA-2 project":        {"a project belongs to the seeds of its shoots", v(graph.Project, "", "meadow"), "south", true},
		"GAC-SA-2 unknown":        {"what nothing refers to belongs to nobody", v(graph.Secret, "garden-meadow", "other"), "north", false},
		"GAC-SA-2 unknown seed":   {"a seed that does not exist has nothing", v(graph.CloudProfile, "", "local"), "west", false},
		"GAC-SA-2 other kind":     {"a kind is a part of the name", v(graph.ConfigMap, "garden-meadow", "credentials"), "north", false},
		"GAC-SA-2 itself":         {"a seed is its own", v(graph.Seed, "", "north"), "north", true},
		"GAC-SA-2 itself unborn":  {"also before it exists", v(graph.Seed, "", "west"), "west", true},
		"GAC-GR-1 direction":      {"edges have a direction", v(graph.Seed, "", "north"), "south", false},
		"GAC-GR-8 child":          {"a seed that was made of a shoot belongs to the seed of this shoot", v(graph.Seed, "", "nursery"), "north", true},
		"GAC-GR-8 parent":         {"but not the other way round", v(graph.Seed, "", "north"), "nursery", false},
		"GAC-GR-2 SSH keys":       {"project secrets belong to the shoot", v(graph.Secret, "garden-meadow", "sprout.ssh-keypair"), "north", true},
		"GAC-GR-2 old keys":       {"also with a dot in the suffix", v(graph.Secret, "garden-meadow", "sprout.ssh-keypair.old"), "north", true},
		"GAC-GR-2 monitoring":     {"also that of another", v(graph.Secret, "garden-meadow", "tree.monitoring"), "north", false},
		"GAC-GR-2 kubeconfig":     {"static kubeconfigs are no more; a Secret of that name is its author's", v(graph.Secret, "garden-meadow", "tree.kubeconfig"), "south", false},
		"GAC-GR-2 other suffix":   {"other names are not special", v(graph.Secret, "garden-meadow", "sprout.password"), "north", false},
		"GAC-GR-2 CA":             {"the authority is public", v(graph.ConfigMap, "garden-meadow", "sprout.ca-cluster"), "north", true},
		"GAC-GR-2 kubelet CA":     {"so is that of kubelets", v(graph.ConfigMap, "garden-meadow", "sprout.ca-kubelet"), "north", true},
		"GAC-GR-2 client CA":      {"this one is not", v(graph.InternalSecret, "garden-meadow", "sprout.ca-client"), "north", true},
		"GAC-GR-2 foreign CA":     {"and even less to others", v(graph.InternalSecret, "garden-meadow", "tree.ca-client"), "north", false},
		"GAC-GR-2 other internal": {"other internal secrets are not special", v(graph.InternalSecret, "garden-meadow", "sprout.ca-cluster"), "north", false},
		"GAC-GR-2 state":          {"a state has the name of its shoot", v(graph.ShootState, "garden-meadow", "sprout"), "north", true},
		"GAC-GR-2 foreign state":  {"and its seed", v(graph.ShootState, "garden-meadow", "sprout"), "south", false},
		"GAC-GR-3 namespace":      {"each seed has a namespace", v(graph.Namespace, "", "seed-north"), "north", true},
		"GAC-GR-3 foreign":        {"others have theirs", v(graph.Namespace, "", "seed-south"), "north", false},
		"GAC-GR-3 lease":          {"each seed has a lease", v(graph.Lease, "gardener-system-seed-lease", "north"), "north", true},
		"GAC-GR-3 foreign lease":  {"others have theirs", v(graph.Lease, "gardener-system-seed-lease", "south"), "north", false},
		"GAC-GR-3 lease outside":  {"other leases are not special", v(graph.Lease, "kube-system", "north"), "north", false},
	}
	g := meadow()
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := g.BelongsTo(tc.object, tc.seed); got != tc.want {
				t.Errorf("%s\nBelongsTo(%s, %q) = %t, want %t", tc.reason, tc.object, tc.seed, got, tc.want)
			}
		})
	}
}

func TestCycle(t *testing.T) {
	t.Parallel()
	g := graph.New()
	a, b, c := v(graph.ManagedSeed, "garden", "a"), v(graph.Seed, "", "a"), v(graph.Seed, "", "b")
	g.Set(a, []graph.Edge{{From: a, To: b}, {From: b, To: a}})
	g.Set(c, []graph.Edge{{From: v(graph.Secret, "garden", "x"), To: c}})
	if g.BelongsTo(a, "b") {
		t.Error("GAC-GR-14: a search ends where it has been before")
	}
}

func TestChanges(t *testing.T) {
	t.Parallel()
	g := meadow()
	shoot, binding := v(graph.Shoot, "garden-meadow", "sprout"), v(graph.SecretBinding, "garden-meadow", "of-sprout")
	credentials := v(graph.Secret, "garden-meadow", "credentials")
	want := func(reason string, seed string, belongs bool) {
		t.Helper()
		if g.BelongsTo(credentials, seed) != belongs {
			t.Errorf("%s: BelongsTo(%s, %q) = %t", reason, credentials, seed, !belongs)
		}
	}
	edges := []graph.Edge{{From: shoot, To: v(graph.Seed, "", "south")}, {From: binding, To: shoot}}
	g.Set(shoot, edges)
	want("GAC-GR-10: a shoot that moved", "north", false)
	want("GAC-GR-10: belongs to its new seed", "south", true)
	before, _ := g.Size()
	g.Set(shoot, edges)
	if after, _ := g.Size(); before != after {
		t.Errorf("GAC-GR-10: an update that changes nothing changed the number of vertices from %d to %d", before, after)
	}

	g.Remove(shoot)
	want("GAC-GR-11: a shoot that is gone", "south", false)
	if found := g.Find(func(v graph.Vertex) bool { return v == binding }); len(found) != 1 {
		t.Errorf("GAC-GR-11: what others use stays, but %s does not", binding)
	}
	g.Remove(binding)
	if found := g.Find(func(v graph.Vertex) bool { return v == binding || v == credentials }); len(found) != 0 {
		t.Errorf("GAC-GR-10: what nothing uses disappears, but there is %v", found)
	}

	g.Retain(graph.Shoot, map[graph.Vertex]bool{v(graph.Shoot, "garden-meadow", "tree"): true})
	if g.BelongsTo(v(graph.Seed, "", "nursery"), "north") || !g.BelongsTo(v(graph.CloudProfile, "", "local"), "south") {
		t.Error("after a list, what is not in it is forgotten, and only that")
	}
	for _, kind := range graph.Kinds() {
		g.Retain(kind, nil)
	}
	if vertices, edges := g.Size(); vertices+edges != 0 {
		t.Errorf("an empty garden has no edges, got %d vertices and %d edges", vertices, edges)
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	north := v(graph.Seed, "", "north")
	want := []graph.Entry{{
		Vertex: north,
		Out:    []graph.Vertex{},
		In:     []graph.Vertex{v(graph.Shoot, "garden", "nursery"), v(graph.Shoot, "garden-meadow", "sprout")},
	}}
	if diff := cmp.Diff(want, meadow().Find(func(v graph.Vertex) bool { return v == north })); diff != "" {
		t.Errorf("Find(north) (-want +got):\n%s", diff)
	}
}

// TestAgainstPlainSearch compares answers on random graphs with those of the plainest search there is.
func TestAgainstPlainSearch(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		g := graph.New()
		edges := map[graph.Vertex][]graph.Edge{}
		out := map[graph.Vertex][]graph.Vertex{}
		pick := func() graph.Vertex {
			return v([]graph.Kind{graph.Seed, graph.Shoot, graph.Project}[random.IntN(3)], "", fmt.Sprint(random.IntN(8)))
		}
		for range random.IntN(60) {
			owner, e := pick(), graph.Edge{From: pick(), To: pick()}
			edges[owner] = append(edges[owner], e)
			g.Set(owner, edges[owner])
			if random.IntN(4) == 0 {
				delete(edges, owner)
				g.Remove(owner)
			}
		}
		for _, all := range edges {
			for _, e := range all {
				out[e.From] = append(out[e.From], e.To)
			}
		}
		for range 100 {
			from, to := pick(), v(graph.Seed, "", fmt.Sprint(random.IntN(8)))
			if want, got := plain(out, from, to), g.BelongsTo(from, to.Name); got != want {
				t.Fatalf("BelongsTo(%s, %s) = %t, want %t in %v", from, to, got, want, out)
			}
		}
	}
}

func plain(out map[graph.Vertex][]graph.Vertex, from, to graph.Vertex) bool {
	seen, open := map[graph.Vertex]bool{from: true}, []graph.Vertex{from}
	for len(open) > 0 {
		at := open[0]
		open = open[1:]
		if at == to {
			return true
		}
		for _, next := range out[at] {
			if !seen[next] {
				seen[next] = true
				open = append(open, next)
			}
		}
	}

	return false
}

func TestConcurrently(t *testing.T) {
	t.Parallel()
	g := meadow()
	var all sync.WaitGroup
	for writer := range 4 {
		all.Go(func() {
			for n := range 500 {
				shoot := v(graph.Shoot, "garden-meadow", fmt.Sprintf("s%d-%d", writer, n))
				g.Set(shoot, []graph.Edge{{From: shoot, To: v(graph.Seed, "", "north")}})
				if !g.BelongsTo(shoot, "north") || g.BelongsTo(shoot, "south") {
					t.Errorf("%s does not belong to its seed, or to another", shoot)
				}
				g.Remove(shoot)
			}
		})
	}
	all.Wait()
}

func TestKindNames(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, kind := range graph.Kinds() {
		if name := kind.String(); name == "" || seen[name] {
			t.Errorf("kind %d is called %q like another or not at all", kind, name)
		} else {
			seen[name] = true
		}
	}
	if got := graph.Kind(0).String(); got != "Kind(0)" {
		t.Errorf("a kind that is none is shown as a number, got %q", got)
	}
}
