// SPDX-License-Identifier: Apache-2.0

package autoscaler

import (
	"maps"
	"slices"

	"github.com/go-logr/logr"
)

// Levels of log lines. What was scaled, and what failed, is always logged.
const (
	// levelNews is of what has changed since the pass before: a pod that nothing helps, a node that is not needed any more. It is the default.
	levelNews = 2
	// levelPass is of what each pass has seen.
	levelPass = 4
	// levelNodes is of what each pass thinks of each node.
	levelNodes = 5
)

// at is the log for lines of a level.
func (a *Autoscaler) at(level int) logr.Logger {
	if a.Options.Verbosity < level {
		return logr.Discard()
	}
	return a.Log
}

// tell logs which nodes are not needed, and why the others are.
func (a *Autoscaler) tell(seen review) {
	for _, c := range seen.unneeded {
		if _, known := a.memory.unneeded[c.node.Name]; !known {
			a.at(levelNews).Info("Node is not needed", "node", c.node.Name, "podsToMove", len(c.moving), "requested", c.load)
		}
	}
	for _, node := range slices.Sorted(maps.Keys(seen.kept)) {
		a.at(levelNodes).Info("Node is needed", "node", node, "reason", seen.kept[node])
	}
}
