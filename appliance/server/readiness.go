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

// readiness knows which units are ready and shows each in /readyz as terrarium/<unit>.
type readiness struct{ units []*unitState }

type unitState struct {
	name  string
	ready atomic.Bool
}

// track watches units become ready, and cease to be so when they are told to stop.
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

// checks lists the units that start after the API server: while it does not serve, nobody can ask about those before.
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
