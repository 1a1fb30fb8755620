// SPDX-License-Identifier: Apache-2.0

// Package graph records which objects of the garden belong to which seed. An edge leads from an object to another one that
// refers to it, and paths lead to a Seed: the Secret of a SecretBinding belongs to the binding, which belongs to a Shoot,
// which belongs to its Seed. Clients of a seed may access objects with a path to it.
//
// The graph is small and fast, because it is used in each request: vertices are numbers, neighbours are slices of numbers,
// objects that belong to another one by their name are not stored, and a path is searched from both ends.
package graph

import (
	"cmp"
	"slices"
	"sync"
)

// Graph is safe for concurrent use.
type Graph struct {
	mu    sync.RWMutex
	ids   map[Vertex]uint32
	nodes []node
	free  []uint32
	// owned are the edges by the object that they were derived from. Several objects may have the same edge.
	owned map[Vertex][]link

	searches sync.Pool
}

type node struct {
	vertex  Vertex
	out, in []uint32
}

type link struct{ from, to uint32 }

// New returns an empty graph.
func New() *Graph {
	return &Graph{
		ids:      map[Vertex]uint32{},
		owned:    map[Vertex][]link{},
		searches: sync.Pool{New: func() any { return &search{} }},
	}
}

// Set replaces the edges of an object. Only changed edges are updated (GAC-GR-10).
func (g *Graph) Set(object Vertex, edges []Edge) {
	if g.same(object, edges) {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	before := g.owned[object]
	after := make([]link, 0, len(edges))
	for _, e := range edges {
		l := link{from: g.id(e.From), to: g.id(e.To)}
		if slices.Contains(after, l) {
			continue
		}
		after = append(after, l)
		if !slices.Contains(before, l) {
			g.nodes[l.from].out = append(g.nodes[l.from].out, l.to)
			g.nodes[l.to].in = append(g.nodes[l.to].in, l.from)
		}
	}
	for _, l := range before {
		if !slices.Contains(after, l) {
			g.cut(l)
		}
	}
	if len(after) == 0 {
		delete(g.owned, object)

		return
	}
	g.owned[object] = after
}

// Remove removes the edges of an object. Edges of other objects are kept (GAC-GR-11).
func (g *Graph) Remove(object Vertex) { g.Set(object, nil) }

// Retain removes the edges of all objects of a kind except the given ones.
func (g *Graph) Retain(kind Kind, objects map[Vertex]bool) {
	g.mu.RLock()
	var gone []Vertex
	for object := range g.owned {
		if object.Kind == kind && !objects[object] {
			gone = append(gone, object)
		}
	}
	g.mu.RUnlock()
	for _, object := range gone {
		g.Remove(object)
	}
}

// same reports whether an object has these edges already, which is the case for most updates.
func (g *Graph) same(object Vertex, edges []Edge) bool {
	g.mu.RLock()
	defer g.mu.RUnlock()
	before := g.owned[object]
	if len(before) != len(edges) {
		return false
	}
	for i, l := range before {
		if g.nodes[l.from].vertex != edges[i].From || g.nodes[l.to].vertex != edges[i].To {
			return false
		}
	}

	return true
}

// id returns the number of a vertex, and adds the vertex if it does not exist.
func (g *Graph) id(v Vertex) uint32 {
	if id, ok := g.ids[v]; ok {
		return id
	}
	var id uint32
	if last := len(g.free) - 1; last >= 0 {
		id, g.free = g.free[last], g.free[:last]
		g.nodes[id] = node{vertex: v}
	} else {
		id = uint32(len(g.nodes)) //nolint:gosec // A garden has fewer than four billion objects.
		g.nodes = append(g.nodes, node{vertex: v})
	}
	g.ids[v] = id

	return id
}

// cut removes one occurrence of an edge, and vertices without edges.
func (g *Graph) cut(l link) {
	from, to := &g.nodes[l.from], &g.nodes[l.to]
	from.out = without(from.out, l.to)
	to.in = without(to.in, l.from)
	for _, id := range []uint32{l.from, l.to} {
		if n := &g.nodes[id]; n.vertex.Kind != 0 && len(n.out)+len(n.in) == 0 {
			delete(g.ids, n.vertex)
			*n = node{}
			g.free = append(g.free, id)
		}
	}
}

func without(all []uint32, one uint32) []uint32 {
	at := slices.Index(all, one)
	if at < 0 {
		return all
	}
	last := len(all) - 1
	all[at] = all[last]

	return all[:last]
}

// Size returns the number of vertices and of edges.
func (g *Graph) Size() (vertices, edges int) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	for _, links := range g.owned {
		edges += len(links)
	}

	return len(g.ids), edges
}

// Entry is a vertex with its neighbours.
type Entry struct {
	Vertex  Vertex
	Out, In []Vertex
}

// Find lists the vertices that match, sorted.
func (g *Graph) Find(match func(v Vertex) bool) []Entry {
	g.mu.RLock()
	defer g.mu.RUnlock()
	var found []Entry
	for v, id := range g.ids {
		if match(v) {
			found = append(found, Entry{Vertex: v, Out: g.vertices(g.nodes[id].out), In: g.vertices(g.nodes[id].in)})
		}
	}
	slices.SortFunc(found, func(a, b Entry) int { return compare(a.Vertex, b.Vertex) })

	return found
}

func (g *Graph) vertices(ids []uint32) []Vertex {
	all := make([]Vertex, 0, len(ids))
	for _, id := range ids {
		all = append(all, g.nodes[id].vertex)
	}
	slices.SortFunc(all, compare)

	return slices.Compact(all)
}

func compare(a, b Vertex) int {
	return cmp.Or(
		cmp.Compare(a.Kind.String(), b.Kind.String()), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name),
	)
}
