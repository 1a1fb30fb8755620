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

// DefaultGrace limits the time for stopping all units if Options.Grace is zero.
const DefaultGrace = 30 * time.Second

// Unit is one part of a process.
type Unit struct {
	// Name identifies the unit in logs and errors. It is unique within one Run.
	Name string
	// Run runs the unit until ctx ends, and returns when all its goroutines have ended. It calls ready when the units after it can
	// use it; later calls of ready do nothing.
	//
	// ctx has the values of the context passed to Run, but ends only when it is the turn of this unit to stop. A unit may return
	// nil after ready if its work is done; the others continue. A unit that others depend on must return an error if it ends before
	// ctx does.
	Run func(ctx context.Context, ready func()) error
}

// Options are the options of Run.
type Options struct {
	// Grace limits the time for stopping all units; zero means DefaultGrace.
	Grace time.Duration
	// Clock measures the grace period and the times in the log; nil means the system's clock.
	Clock clock.Clock
	// Log receives one line for each unit that is ready and for each one that has stopped.
	Log logr.Logger
}

// Run starts the units in order, waits, and stops them in reverse order. It stops when ctx ends, which is not an error,
// when a unit fails, or when every unit has returned. It returns the first failure, wrapped with the unit's name and
// joined with the errors of the stop. If a unit does not end within the grace period, the error names it; as its goroutine cannot be
// ended, the caller should end the process.
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

// check returns an error for units with which errors and logs would be ambiguous.
func check(units []Unit) error {
	names := make(map[string]bool, len(units))
	for i, u := range units {
		switch {
		case u.Name == "":
			return fmt.Errorf("unit %d has no name", i)
		case u.Run == nil:
			return fmt.Errorf("unit %q has no Run function", u.Name)
		case names[u.Name]:
			return fmt.Errorf("unit %q is a duplicate", u.Name)
		}
		names[u.Name] = true
	}
	return nil
}

// run is the state of one call of Run. Except for ended, only the goroutine of Run uses it.
type run struct {
	Options

	started  []*running
	finished int // units that have returned before the stop without a failure
	ended    chan *running
}

// running is a started unit. err may be read after done is closed.
type running struct {
	Unit

	cancel context.CancelFunc
	ready  chan struct{}
	done   chan struct{}
	err    error
}

// startAll starts the units one after the other. It returns the unit that failed, or nil if all are ready or ctx has ended.
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
		err := errGoexit // if Run neither returns nor panics
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

// awaitReady returns nil when s is ready or ctx has ended, or else the first unit that failed, which may be another one.
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

// wait returns the first unit that fails, or nil when ctx has ended or all units have returned.
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

// stopAll stops the started units in reverse order and returns their errors, except the one that is reported already.
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

// stop stops one unit. It returns false if the grace period ended first.
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

// failure returns why a unit failed that returned before the stop; nil if it was ready and has finished its work.
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
