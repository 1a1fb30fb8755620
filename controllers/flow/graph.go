// SPDX-License-Identifier: Apache-2.0

package flow

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Graph is a checked set of tasks, made by Compile. It holds no state of a run, so it may run several times.
type Graph struct {
	name  string
	tasks []Task
	index map[ID]int
	// next lists, for each task, the tasks that wait for it.
	next [][]int
}

// Compile checks the tasks and returns the graph, or every mistake that was found: an empty or repeated id, a task
// without a title or without work, a dependency that does not exist, a cycle, a value that is read but will not be set,
// or that is set by two tasks.
func Compile(name string, tasks ...Task) (*Graph, error) {
	g := &Graph{
		name:  name,
		tasks: slices.Clone(tasks),
		index: make(map[ID]int, len(tasks)),
		next:  make([][]int, len(tasks)),
	}
	errs := g.checkTasks()
	errs = append(errs, g.link()...)
	if len(errs) == 0 {
		errs = g.checkCycles()
	}
	if len(errs) > 0 {
		return nil, fmt.Errorf("compile flow %q: %w", name, errors.Join(errs...))
	}
	return g, nil
}

// Name returns the name given to Compile.
func (g *Graph) Name() string {
	return g.name
}

func (g *Graph) checkTasks() []error {
	var errs []error
	for i, t := range g.tasks {
		if t.ID == "" {
			errs = append(errs, fmt.Errorf("task number %d has no id", i+1))
			continue
		}
		if t.Title == "" {
			errs = append(errs, fmt.Errorf("task %q has no title", t.ID))
		}
		if t.Do == nil {
			errs = append(errs, fmt.Errorf("task %q does nothing: Do is nil", t.ID))
		}
		if _, found := g.index[t.ID]; found {
			errs = append(errs, fmt.Errorf("task %q exists more than once", t.ID))
			continue
		}
		g.index[t.ID] = i
	}
	return errs
}

// link makes an edge of every task to wait for and of every value to read.
func (g *Graph) link() []error {
	writers, errs := g.writers()
	for i, t := range g.tasks {
		for _, id := range t.After {
			before, found := g.index[id]
			if !found {
				errs = append(errs, fmt.Errorf("task %q waits for %q, which does not exist", t.ID, id))
				continue
			}
			g.connect(before, i)
		}
		for _, slot := range t.Reads {
			if err := g.checkReads(t, slot, writers[slot]); err != nil {
				errs = append(errs, err)
			}
			for _, before := range writers[slot] {
				g.connect(before, i)
			}
		}
	}
	return errs
}

func (g *Graph) connect(before, after int) {
	if !slices.Contains(g.next[before], after) {
		g.next[before] = append(g.next[before], after)
	}
}

// checkCycles walks the graph depth first and reports the first path that comes back to itself.
func (g *Graph) checkCycles() []error {
	const (
		unseen = iota
		open
		closed
	)
	state := make([]int, len(g.tasks))
	var path []string
	var visit func(i int) error
	visit = func(i int) error {
		id := string(g.tasks[i].ID)
		switch state[i] {
		case closed:
			return nil
		case open:
			cycle := append(path[slices.Index(path, id):], id)
			return fmt.Errorf("tasks wait for each other: %s", strings.Join(cycle, " -> "))
		}
		state[i] = open
		path = append(path, id)
		for _, n := range g.next[i] {
			if err := visit(n); err != nil {
				return err
			}
		}
		path = path[:len(path)-1]
		state[i] = closed
		return nil
	}
	for i := range g.tasks {
		if err := visit(i); err != nil {
			return []error{err}
		}
	}
	return nil
}

// waits returns, for each task, how many distinct tasks it waits for.
func (g *Graph) waits() []int {
	n := make([]int, len(g.tasks))
	for _, next := range g.next {
		for _, i := range next {
			n[i]++
		}
	}
	return n
}

// before returns, for each task, the tasks that have to be done before it, sorted by id. Skipped tasks never run: what they wait
// for stands for them.
func (g *Graph) before() [][]ID {
	direct := make([][]int, len(g.tasks))
	for i, next := range g.next {
		for _, n := range next {
			direct[n] = append(direct[n], i)
		}
	}
	all := make([][]ID, len(g.tasks))
	for i := range g.tasks {
		seen := map[int]struct{}{}
		var add func(n int)
		add = func(n int) {
			for _, b := range direct[n] {
				if _, found := seen[b]; found {
					continue
				}
				seen[b] = struct{}{}
				if g.tasks[b].Skip {
					add(b)
					continue
				}
				all[i] = append(all[i], g.tasks[b].ID)
			}
		}
		add(i)
		slices.Sort(all[i])
	}
	return all
}

// DefaultTimeout bounds a task without a limit of its own, so that no task hangs forever. It is longer than every wait that
// has a limit.
const DefaultTimeout = 15 * time.Minute

// ID names a task. It is unique within its graph and does not change: it is kept with errors and counted by metrics.
type ID string

// Task is one node of a graph. A flow is composed of slices of tasks.
type Task struct {
	ID ID
	// Title says to users what the task does, as in "Waiting for the API server".
	Title string
	// After lists the tasks that have to be done before this one starts, apart from those whose values it reads.
	After []ID
	// Sets and Reads list the values that the task hands to others and those that it takes. A task starts when all values
	// that it reads are set.
	Sets, Reads []Slot
	// Timeout bounds the task with all of its retries. Zero means DefaultTimeout.
	Timeout time.Duration
	// Retry says how often and how long a failing task is retried. The zero value does not retry.
	Retry Retry
	// Skip leaves the task out: it counts as done for the tasks that wait for it, and not in the total. It is decided before
	// Compile, so that Compile knows which values will not be set.
	Skip bool
	// Do does the work. It is idempotent, reads the current state, and returns when its context ends.
	Do func(ctx context.Context) error
}

func (t *Task) limit() time.Duration { return cmp.Or(t.Timeout, DefaultTimeout) }

// Retry repeats a failing task at an interval until a timeout. If one of the two is given, the other one is by default
// DefaultRetryInterval or DefaultRetryTimeout (GLET-FLOW-7).
type Retry struct{ Interval, Timeout time.Duration }

// The defaults of a Retry (GLET-FLOW-7).
const (
	DefaultRetryInterval = 5 * time.Second
	DefaultRetryTimeout  = 30 * time.Second
)

// complete sets the defaults, and reports whether there are retries.
func (r Retry) complete() (Retry, bool) {
	return Retry{Interval: cmp.Or(r.Interval, DefaultRetryInterval), Timeout: cmp.Or(r.Timeout, DefaultRetryTimeout)}, r != Retry{}
}
