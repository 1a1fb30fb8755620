// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"context"
	"fmt"
	"sync/atomic"
)

// Order collects units in the order of their start. What a unit has to hand on is in the Handle that adding it returns, so
// a unit can only ask for what comes from one that was added before it. The zero value is an empty order.
type Order struct{ units []Unit }

// Units returns the units that were added.
func (o *Order) Units() []Unit { return o.units }

// Add adds a unit that hands nothing on.
func (o *Order) Add(name string, run func(ctx context.Context, ready func()) error) {
	o.units = append(o.units, Unit{Name: name, Run: run})
}

// Handle is what a unit hands on when it is ready.
type Handle[T any] struct {
	unit  string
	given atomic.Pointer[T]
}

// Give adds a unit that hands a value on: it calls ready with it.
func Give[T any](o *Order, name string, run func(ctx context.Context, ready func(T)) error) *Handle[T] {
	h := &Handle[T]{unit: name}
	o.Add(name, func(ctx context.Context, ready func()) error {
		return run(ctx, func(value T) {
			h.given.Store(&value)
			ready()
		})
	})
	return h
}

// Get returns the value. It is for the Run of later units: it panics as long as the unit is not ready.
func (h *Handle[T]) Get() T {
	value := h.given.Load()
	if value == nil {
		panic(fmt.Sprintf("unit %q is asked for what it gives before it is ready", h.unit))
	}
	return *value
}
