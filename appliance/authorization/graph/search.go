// SPDX-License-Identifier: Apache-2.0

package graph

// search is the state of a search. It is reused, so that a search does not allocate.
type search struct {
	// marks has for each vertex the search, and the end of it, in which it was visited last.
	marks []uint32
	// round is the number of the search; marks of other rounds are ignored.
	round uint32

	down, up side
}

// side is one end of a search.
type side struct {
	mark           uint32
	frontier, next []uint32
	// cost is the number of edges from the frontier, nextCost that from the vertices visited for the next step.
	cost, nextCost int
}

const (
	roundStep = 2
	maxRound  = 1 << 31
)

// BelongsTo reports whether there is a path from an object to a seed (GAC-SA-2).
func (g *Graph) BelongsTo(object Vertex, seed string) bool {
	return g.Leads(object, Vertex{Kind: Seed, Name: seed})
}

// Leads reports whether there is a path from an object to another one. The graph may have cycles (GAC-GR-14).
func (g *Graph) Leads(object, target Vertex) bool {
	owner, tied := tied(object)
	if object == target || (tied && owner == target) {
		return true
	}
	g.mu.RLock()
	defer g.mu.RUnlock()
	end, ok := g.ids[target]
	if !ok {
		return false
	}
	s, ok := g.searches.Get().(*search)
	if !ok {
		return false
	}
	defer g.searches.Put(s)
	s.reset(len(g.nodes))
	s.up.visit(s, end, len(g.nodes[end].in))
	for _, v := range [...]Vertex{object, owner} {
		if id, ok := g.ids[v]; ok {
			if id == end {
				return true
			}
			s.down.visit(s, id, len(g.nodes[id].out))
		}
	}
	s.down.advance()
	s.up.advance()

	return g.meet(s)
}

// Knows reports whether the graph has an object.
func (g *Graph) Knows(object Vertex) bool {
	owner, _ := tied(object)
	g.mu.RLock()
	defer g.mu.RUnlock()
	if _, ok := g.ids[object]; ok {
		return true
	}
	_, ok := g.ids[owner]

	return ok
}

// meet searches from both ends, and continues at the end with fewer edges: a CloudProfile belongs to all shoots of a garden,
// but a seed has only some of them.
func (g *Graph) meet(s *search) bool {
	for len(s.down.frontier) > 0 && len(s.up.frontier) > 0 {
		if s.down.cost <= s.up.cost {
			if g.expand(s, &s.down, &s.up, func(n *node) []uint32 { return n.out }) {
				return true
			}
		} else if g.expand(s, &s.up, &s.down, func(n *node) []uint32 { return n.in }) {
			return true
		}
	}

	return false
}

// expand takes one step from one end and reports whether it met the other.
func (g *Graph) expand(s *search, from, other *side, neighbours func(n *node) []uint32) bool {
	for _, id := range from.frontier {
		for _, neighbour := range neighbours(&g.nodes[id]) {
			switch s.marks[neighbour] {
			case other.mark:
				return true
			case from.mark:
			default:
				from.visit(s, neighbour, len(neighbours(&g.nodes[neighbour])))
			}
		}
	}
	from.advance()

	return false
}

func (s *search) reset(size int) {
	if len(s.marks) < size || s.round >= maxRound {
		s.marks, s.round = make([]uint32, size+size/4), 0
	}
	s.round += roundStep
	s.down = side{mark: s.round, frontier: s.down.frontier[:0], next: s.down.next[:0]}
	s.up = side{mark: s.round + 1, frontier: s.up.frontier[:0], next: s.up.next[:0]}
}

// visit marks a vertex for the next step.
func (d *side) visit(s *search, id uint32, edges int) {
	s.marks[id] = d.mark
	d.next = append(d.next, id)
	d.nextCost += edges
}

// advance makes the visited vertices the new frontier.
func (d *side) advance() {
	d.frontier, d.next = d.next, d.frontier[:0]
	d.cost, d.nextCost = d.nextCost, 0
}
