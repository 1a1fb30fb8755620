// SPDX-License-Identifier: Apache-2.0

package autoscaler

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/terrarium-garden/terrarium/controllers/provider/local/preservation"
)

// memory is what passes remember. All of it only delays what they do, so that it may be lost.
type memory struct {
	// unneeded says since when nodes are not needed.
	unneeded map[string]time.Time
	// waits are groups whose machines are on their way.
	waits map[string]wait
	// backoffs are groups whose machines did not come.
	backoffs                map[string]backoff
	lastDelete, lastFailure time.Time
	// told is what was said last about pods that no group helps.
	told map[types.UID]string
}

// wait says since when a group has wanted as many machines as now, and had as many nodes.
type wait struct {
	since          time.Time
	target, starts int
}

// backoff leaves a group alone.
type backoff struct {
	failed, until time.Time
	length        time.Duration
}

func newMemory() *memory {
	return &memory{unneeded: map[string]time.Time{}, waits: map[string]wait{}, backoffs: map[string]backoff{}, told: map[types.UID]string{}}
}

// arrivals is how many machines of a group are on their way. Late says that they have been for too long without any of them coming.
func (m *memory) arrivals(w *world, g *group) (coming int, late bool) {
	starts, target := w.starts(g), int(g.target())
	coming = max(0, target-starts)
	last, known := m.waits[g.Name]
	if coming == 0 {
		delete(m.waits, g.Name)
		return 0, false
	}
	if !known || last.target != target || last.starts != starts {
		m.expect(w, g)
		return coming, false
	}
	return coming, w.now.Sub(last.since) >= g.MaxNodeProvisionTime
}

// expect begins to wait for the machines that a group wants.
func (m *memory) expect(w *world, g *group) {
	m.waits[g.Name] = wait{since: w.now, target: int(g.target()), starts: w.starts(g)}
}

// starts is how many machines of a group are not on their way any more. One that has failed and is kept for analysis is not, even if it never
// became a node.
func (w *world) starts(g *group) int {
	count := 0
	for i := range g.machines {
		node := w.nodes[nodeOf(&g.machines[i])]
		if node != nil && (w.started(node) || w.old(g, i)) || w.kept(g, i) {
			count++
		}
	}
	return count
}

func (w *world) kept(g *group, index int) bool {
	m := &g.machines[index]
	return preservation.Failed(m) && preservation.Kept(m, w.now)
}

// overdue is how many of the machines that are on their way should have become a node before now.
func (w *world) overdue(g *group) int {
	count := 0
	for i := range g.machines {
		if w.nodes[nodeOf(&g.machines[i])] == nil && w.old(g, i) && !w.kept(g, i) {
			count++
		}
	}
	return count
}

// old reports whether a machine with a node has had enough time to become ready. If it is not, it is broken and not on its way.
func (w *world) old(g *group, index int) bool {
	return w.now.Sub(g.machines[index].CreationTimestamp.Time) >= g.MaxNodeProvisionTime
}

// fail leaves a group alone, each time for longer.
func (m *memory) fail(w *world, name string) {
	o, last := w.options, m.backoffs[name]
	length := o.InitialBackoff
	if last.length > 0 && w.now.Sub(last.failed) < o.BackoffReset {
		length = min(2*last.length, o.MaxBackoff)
	}
	m.backoffs[name] = backoff{failed: w.now, until: w.now.Add(length), length: length}
	delete(m.waits, name)
}

// barred are the groups that are left alone now.
func (m *memory) barred(now time.Time) map[string]bool {
	barred := map[string]bool{}
	for name, b := range m.backoffs {
		barred[name] = now.Before(b.until)
	}
	return barred
}

// notice remembers since when nodes are not needed, and forgets those that are.
func (m *memory) notice(candidates []*candidate, now time.Time) {
	fresh := make(map[string]time.Time, len(candidates))
	for _, c := range candidates {
		fresh[c.node.Name] = now
		if since, known := m.unneeded[c.node.Name]; known {
			fresh[c.node.Name] = since
		}
	}
	m.unneeded = fresh
}

// cooling reports whether it is too early for any machine to go.
func (m *memory) cooling(w *world) bool {
	o := w.options
	return w.now.Sub(w.lastAdded()) < o.ScaleDownDelayAfterAdd ||
		w.now.Sub(m.lastDelete) < o.ScaleDownDelayAfterDelete || w.now.Sub(m.lastFailure) < o.ScaleDownDelayAfterFailure
}
