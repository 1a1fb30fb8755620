// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/terrarium-garden/terrarium/appliance/apiserver"
	"github.com/terrarium-garden/terrarium/appliance/runner"
)

var errNotReady = errors.New("not ready")

// readiness records which units are ready, for the checks terrarium/<unit> of /readyz.
type readiness struct{ units []*unitState }

type unitState struct {
	name  string
	ready atomic.Bool
}

// track wraps units to record when they become ready, and when they stop.
func (r *readiness) track(units []runner.Unit) []runner.Unit {
	tracked := make([]runner.Unit, 0, len(units))
	for _, u := range units {
		state := &unitState{name: u.Name}
		r.units = append(r.units, state)
		tracked = append(tracked, runner.Unit{Name: u.Name, Run: func(ctx context.Context, ready func()) error {
			defer context.AfterFunc(ctx, func() { state.ready.Store(false) })()

			return u.Run(ctx, func() {
				state.ready.Store(true)
				ready()
			})
		}})
	}

	return tracked
}

// checks returns the checks of the units that start after the given one, which is the API server: before it is ready, /readyz is
// not served.
func (r *readiness) checks(after string) []apiserver.ReadyCheck {
	var all []apiserver.ReadyCheck
	found := false
	for _, u := range r.units {
		if found {
			all = append(all, apiserver.ReadyCheck{Name: "terrarium/" + u.name, Check: u.check})
		}
		found = found || u.name == after
	}

	return all
}

func (u *unitState) check() error {
	if u.ready.Load() {
		return nil
	}

	return fmt.Errorf("unit %q: %w", u.name, errNotReady)
}
