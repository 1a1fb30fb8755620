// SPDX-License-Identifier: Apache-2.0

package flow

import (
	"fmt"
	"slices"
	"strings"
)

// DOT draws the graph in Graphviz's language, in the order given to Compile, so that a picture under testdata shows a
// changed edge as a changed line. Skipped tasks are dashed.
func (g *Graph) DOT() string {
	var b strings.Builder
	fmt.Fprintf(&b, "digraph %q {\n  rankdir=LR\n", g.name)
	for _, t := range g.tasks {
		fmt.Fprintf(&b, "  %q%s\n", t.ID, t.attributes())
	}
	for _, t := range g.tasks {
		after := slices.Clone(t.After)
		slices.Sort(after)
		for _, id := range slices.Compact(after) {
			fmt.Fprintf(&b, "  %q -> %q\n", id, t.ID)
		}
	}
	b.WriteString("}\n")
	return b.String()
}

func (t Task) attributes() string {
	var label []string
	if t.Timeout > 0 {
		label = append(label, "within "+t.Timeout.String())
	}
	if t.Retry.enabled() {
		r := t.Retry.withDefaults()
		label = append(label, fmt.Sprintf("again every %s for %s", r.Interval, r.Timeout))
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
