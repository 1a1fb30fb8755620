// SPDX-License-Identifier: Apache-2.0

package graph

import "slices"

// Belonging returns all objects in the graph that belong to a seed, sorted. Those that belong to another object by their name
// alone are not in the graph.
func (g *Graph) Belonging(seed string) []Vertex {
	g.mu.RLock()
	defer g.mu.RUnlock()
	start, ok := g.ids[Vertex{Kind: Seed, Name: seed}]
	if !ok {
		return nil
	}
	visited := map[uint32]bool{start: true}
	var found []Vertex
	for queue := []uint32{start}; len(queue) > 0; queue = queue[1:] {
		for _, id := range g.nodes[queue[0]].in {
			if !visited[id] {
				visited[id] = true
				queue = append(queue, id)
				found = append(found, g.nodes[id].vertex)
			}
		}
	}
	slices.SortFunc(found, compare)

	return found
}
