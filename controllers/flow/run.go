// SPDX-License-Identifier: Apache-2.0

package flow

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/sync/errgroup"
	"k8s.io/utils/clock"
)

// Options say how a graph runs.
type Options struct {
	// Clock drives timeouts, retries and the pauses between reports.
	Clock clock.Clock
	// Log takes one line for the start and the end of each task, at level 1.
	Log logr.Logger
	// Progress is called with the progress of the run; it may be nil. Calls never overlap, and Run returns after the last one.
	Progress func(Progress)
	// ReportPeriod is the shortest time between two calls of Progress. Zero reports every change.
	ReportPeriod time.Duration
	// Observe is called for each task that has ended; it may be nil. Calls never overlap.
	Observe func(Observation)
}

// Observation is the trace of one task.
type Observation struct {
	// Flow is the name of the graph.
	Flow string
	// ID is the id of the task, Title says in plain words what it does.
	ID    ID
	Title string
	// After holds the ids of the tasks that had to be done before, sorted. It belongs to the graph.
	After []ID
	// Ready is when the last task it waited for was done, Started when it began, Ended when it returned.
	Ready, Started, Ended time.Time
	// Err is nil if the task succeeded.
	Err error
}

// Run runs the graph and returns nil if every task succeeded, or a *RunError. When the context ends, no more tasks start, and
// Run waits for those that run.
func (g *Graph) Run(ctx context.Context, o Options) error {
	if o.Clock == nil {
		return errors.New("flow: Options.Clock is nil")
	}
	r := &run{
		graph:     g,
		options:   o,
		waits:     g.waits(),
		before:    g.before(),
		ended:     make(chan Observation, len(g.tasks)),
		values:    &values{},
		running:   map[ID]string{},
		succeeded: map[ID]struct{}{},
	}
	for _, t := range g.tasks {
		if !t.Skip {
			r.total++
		}
	}
	stopReports := r.startReports()
	defer stopReports()
	return r.loop(ctx)
}

// run is the state of one run. Only its loop touches it.
type run struct {
	graph   *Graph
	options Options
	group   errgroup.Group
	reports *reporter

	// waits counts, for each task, the tasks that it still waits for.
	waits []int
	// before holds, for each task, the tasks that have to be done before it.
	before [][]ID
	ended  chan Observation
	total  int
	values *values
	// running holds the titles of the running tasks.
	running   map[ID]string
	succeeded map[ID]struct{}
	errs      []TaskError
	// left is set when a task was ready after the context had ended.
	left bool
}

func (r *run) startReports() (stop func()) {
	if r.options.Progress == nil {
		return func() {}
	}
	r.reports = newReporter(r.options.Clock, r.options.ReportPeriod, r.options.Progress)
	closed := make(chan struct{})
	var group errgroup.Group
	group.Go(func() error {
		r.reports.loop(closed)
		return nil
	})
	return func() {
		close(closed)
		_ = group.Wait() // the loop returns no error
	}
}

func (r *run) loop(ctx context.Context) error {
	r.publish()
	// All roots are found before the first begins, because a skipped root makes its dependents ready at once.
	var roots []int
	for i, n := range r.waits {
		if n == 0 {
			roots = append(roots, i)
		}
	}
	for _, i := range roots {
		r.begin(ctx, i)
	}
	r.publish()
	for len(r.running) > 0 {
		r.end(ctx, <-r.ended)
		r.publish()
	}
	_ = r.group.Wait() // tasks report through r.ended
	return r.result(ctx)
}

// begin starts a task whose dependencies are done; a skipped one is done at once.
func (r *run) begin(ctx context.Context, i int) {
	t := &r.graph.tasks[i]
	if t.Skip {
		r.release(ctx, i)
		return
	}
	if ctx.Err() != nil {
		r.left = true
		return
	}
	r.running[t.ID] = t.Title
	o := Observation{Flow: r.graph.name, ID: t.ID, Title: t.Title, After: r.before[i], Ready: r.options.Clock.Now()}
	r.group.Go(func() error {
		o.Started = r.options.Clock.Now()
		r.options.Log.V(1).Info("Task started", "task", t.ID)
		o.Err = perform(ctx, r.options.Clock, t, r.values)
		o.Ended = r.options.Clock.Now()
		r.ended <- o
		return nil
	})
}

func (r *run) end(ctx context.Context, o Observation) {
	delete(r.running, o.ID)
	took := o.Ended.Sub(o.Started)
	if r.options.Observe != nil {
		r.options.Observe(o)
	}
	if o.Err != nil {
		r.options.Log.V(1).Info("Task failed", "task", o.ID, "took", took)
		if panicked, ok := errors.AsType[*PanicError](o.Err); ok {
			r.options.Log.Info("Task panicked", "task", o.ID, "stack", string(panicked.Stack))
		}
		r.errs = append(r.errs, TaskError{ID: o.ID, Err: o.Err})
		return
	}
	r.options.Log.V(1).Info("Task done", "task", o.ID, "took", took)
	r.succeeded[o.ID] = struct{}{}
	r.release(ctx, r.graph.index[o.ID])
}

// release starts the tasks that have waited only for this one.
func (r *run) release(ctx context.Context, i int) {
	for _, n := range r.graph.next[i] {
		r.waits[n]--
		if r.waits[n] == 0 {
			r.begin(ctx, n)
		}
	}
}

func (r *run) publish() {
	if r.reports == nil {
		return
	}
	r.reports.publish(Progress{
		Flow:      r.graph.name,
		Total:     r.total,
		Succeeded: slices.Sorted(maps.Keys(r.succeeded)),
		Doing:     slices.Sorted(maps.Values(r.running)),
	})
}

func (r *run) result(ctx context.Context) error {
	if len(r.errs) == 0 && !r.left {
		return nil
	}
	slices.SortFunc(r.errs, func(a, b TaskError) int { return cmp.Compare(a.ID, b.ID) })
	err := &RunError{Flow: r.graph.name, Tasks: r.errs}
	if r.left {
		err.Cause = context.Cause(ctx)
	}
	return err
}
