// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/utils/clock"
)

// DefaultGrace is how long all units together may take to stop when Options.Grace is zero.
const DefaultGrace = 30 * time.Second

// Unit is one part of a process.
type Unit struct {
	// Name tells the unit apart in logs and errors. It is unique within one Run.
	Name string
	// Run does the unit's work until ctx ends and returns when nothing of it is left running. It calls ready once
	// the units after it may rely on it; later calls of ready do nothing.
	//
	// ctx carries the values of the context given to Run, but ends only when it is this unit's turn to stop. A
	// unit whose work is done may return nil after ready, and the others go on; one that has to go on for the
	// others' sake returns an error if it ends unasked.
	Run func(ctx context.Context, ready func()) error
}

// Options say how units are run.
type Options struct {
	// Grace bounds the stop of all units together; zero means DefaultGrace.
	Grace time.Duration
	// Clock measures the grace period and the times in the log; nil means the system's clock.
	Clock clock.Clock
	// Log receives one line for each unit that is ready and for each one that has stopped.
	Log logr.Logger
}

// Run starts the units in order, waits, and stops them in reverse order. It stops when ctx ends, which is no error,
// when a unit fails, or when every unit has returned. Its error is the first failure, wrapped with the unit's name,
// joined with whatever went wrong during the stop. A unit that outlives the grace period is named in the error and
// left behind, since nothing can end it: the caller is expected to end the process.
func Run(ctx context.Context, o Options, units ...Unit) error {
	if err := check(units); err != nil {
		return err
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	if o.Grace == 0 {
		o.Grace = DefaultGrace
	}
	r := &run{Options: o, ended: make(chan *running, len(units))}
	failure := r.startAll(ctx, units)
	if failure == nil {
		failure = r.wait(ctx)
	}
	if failure != nil {
		return errors.Join(failure.failure(), r.stopAll(failure))
	}
	return r.stopAll(nil)
}

// check finds mistakes of the program that would make errors and logs ambiguous.
func check(units []Unit) error {
	names := make(map[string]bool, len(units))
	for i, u := range units {
		switch {
		case u.Name == "":
			return fmt.Errorf("unit %d has no name", i)
		case u.Run == nil:
			return fmt.Errorf("unit %q has nothing to run", u.Name)
		case names[u.Name]:
			return fmt.Errorf("unit %q is given twice", u.Name)
		}
		names[u.Name] = true
	}
	return nil
}

// run is the state of one call of Run. Only Run's goroutine uses it, apart from ended.
type run struct {
	Options

	started  []*running
	finished int // units that ended unasked and without a failure
	ended    chan *running
}

// running is a unit that was started. err may be read once done is closed.
type running struct {
	Unit

	cancel context.CancelFunc
	ready  chan struct{}
	done   chan struct{}
	err    error
}

// startAll starts the units one by one. It returns the unit that failed, if one did, and nil when all are ready or
// ctx has ended.
func (r *run) startAll(ctx context.Context, units []Unit) *running {
	for _, u := range units {
		if ctx.Err() != nil {
			return nil
		}
		began := r.Clock.Now()
		s := r.start(ctx, u)
		if failed := r.awaitReady(ctx, s); failed != nil {
			return failed
		}
		if s.isReady() {
			r.Log.Info("Unit ready", "unit", u.Name, "took", r.Clock.Since(began))
		}
	}
	return nil
}

// start runs u in its own goroutine, on a context that outlives ctx.
func (r *run) start(ctx context.Context, u Unit) *running {
	unitCtx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s := &running{Unit: u, cancel: cancel, ready: make(chan struct{}), done: make(chan struct{})}
	r.started = append(r.started, s)
	ready := sync.OnceFunc(func() { close(s.ready) })
	go func() {
		err := errGoexit // stands if Run neither returns nor panics
		defer func() {
			if v := recover(); v != nil {
				err = &PanicError{Value: v, Stack: debug.Stack()}
			}
			s.err = err
			close(s.done)
			r.ended <- s
		}()
		err = u.Run(unitCtx, ready)
	}()
	return s
}

// awaitReady returns nil when s is ready or ctx has ended, and else the unit that failed first, which may be another
// one.
func (r *run) awaitReady(ctx context.Context, s *running) *running {
	for {
		select {
		case <-s.ready:
			return nil
		case <-ctx.Done():
			return nil
		case e := <-r.ended:
			if e.failure() != nil {
				return e
			}
			r.finished++
		}
	}
}

// wait returns the first unit that fails, and nil when ctx has ended or no unit is left.
func (r *run) wait(ctx context.Context) *running {
	for r.finished < len(r.started) {
		select {
		case <-ctx.Done():
			return nil
		case e := <-r.ended:
			if e.failure() != nil {
				return e
			}
			r.finished++
		}
	}
	return nil
}

// stopAll ends the started units in reverse order and returns what went wrong with any of them but reported.
func (r *run) stopAll(reported *running) error {
	timer := r.Clock.NewTimer(r.Grace)
	defer timer.Stop()

	for _, s := range slices.Backward(r.started) {
		if !r.stop(s, timer) {
			break
		}
	}
	for _, s := range r.started {
		s.cancel()
	}
	return r.stopErrors(reported)
}

// stop ends one unit and returns false if the grace period was over first.
func (r *run) stop(s *running, timer clock.Timer) bool {
	began, asked := r.Clock.Now(), !s.isDone()
	s.cancel()
	select {
	case <-s.done:
		if asked {
			r.Log.Info("Unit stopped", "unit", s.Name, "took", r.Clock.Since(began))
		}
		return true
	case <-timer.C():
		return false
	}
}

func (r *run) stopErrors(reported *running) error {
	var (
		errs []error
		left []string
	)
	for _, s := range slices.Backward(r.started) {
		switch {
		case !s.isDone():
			left = append(left, fmt.Sprintf("%q", s.Name))
		case s != reported && s.err != nil && !errors.Is(s.err, context.Canceled):
			errs = append(errs, fmt.Errorf("unit %q: %w", s.Name, s.err))
		}
	}
	if len(left) > 0 {
		errs = append(errs, fmt.Errorf("still running %s after the stop began: %s", r.Grace, strings.Join(left, ", ")))
	}
	return errors.Join(errs...)
}

// failure says why a unit that ended unasked did so wrongly. It is nil for one that was ready and then finished.
func (s *running) failure() error {
	if s.err != nil {
		return fmt.Errorf("unit %q: %w", s.Name, s.err)
	}
	if !s.isReady() {
		return fmt.Errorf("unit %q: %w", s.Name, ErrNotReady)
	}
	return nil
}

func (s *running) isReady() bool {
	select {
	case <-s.ready:
		return true
	default:
		return false
	}
}

func (s *running) isDone() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}
