// SPDX-License-Identifier: Apache-2.0

package flow

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// DOT draws the graph in the language of Graphviz, in the order given to Compile, so that a changed edge is a changed line
// of a picture in testdata. Skipped tasks are dashed; edges are labeled with the values that travel along them.
func (g *Graph) DOT() string {
	var b strings.Builder
	fmt.Fprintf(&b, "digraph %q {\n  rankdir=LR\n", g.name)
	for _, t := range g.tasks {
		fmt.Fprintf(&b, "  %q%s\n", t.ID, t.attributes())
	}
	for _, t := range g.tasks {
		edges := g.edges(t)
		for _, id := range slices.Sorted(maps.Keys(edges)) {
			fmt.Fprintf(&b, "  %q -> %q%s\n", id, t.ID, labels(edges[id]))
		}
	}
	b.WriteString("}\n")
	return b.String()
}

// edges returns the tasks that a task waits for, with the names of the values that it gets from them.
func (g *Graph) edges(t Task) map[ID][]string {
	edges := map[ID][]string{}
	for _, id := range t.After {
		edges[id] = nil
	}
	for _, before := range g.tasks {
		for _, slot := range before.Sets {
			if slices.Contains(t.Reads, slot) {
				edges[before.ID] = append(edges[before.ID], slot.slot())
			}
		}
	}
	return edges
}

func labels(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf(" [label=%q]", strings.Join(names, ", "))
}

func (t Task) attributes() string {
	var label []string
	if t.Timeout > 0 {
		label = append(label, "within "+t.Timeout.String())
	}
	if retry, retries := t.Retry.complete(); retries {
		label = append(label, fmt.Sprintf("again every %s for %s", retry.Interval, retry.Timeout))
	}
	var attributes []string
	if len(label) > 0 {
		attributes = append(attributes, fmt.Sprintf(`label="%s\n%s"`, t.ID, strings.Join(label, `\n`)))
	}
	if t.Skip {
		attributes = append(attributes, "style=dashed")
	}
	if len(attributes) == 0 {
		return ""
	}
	return " [" + strings.Join(attributes, " ") + "]"
}
