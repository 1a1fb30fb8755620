// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"context"
	"fmt"
	"sync/atomic"
)

// Order collects units in the order of their start. Adding a unit that makes a value returns a Handle of the value, so a unit can
// only use the values of units that were added before it. The zero value is an empty order.
type Order struct{ units []Unit }

// Units returns the units that were added.
func (o *Order) Units() []Unit { return o.units }

// Add adds a unit that makes no value for others.
func (o *Order) Add(name string, run func(ctx context.Context, ready func()) error) {
	o.units = append(o.units, Unit{Name: name, Run: run})
}

// Handle gives access to the value of a unit.
type Handle[T any] struct {
	unit  string
	given atomic.Pointer[T]
}

// Give adds a unit that makes a value for others. The unit calls ready with the value.
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

// Get returns the value. Only the Run functions of later units may call it: it panics while the unit is not ready.
func (h *Handle[T]) Get() T {
	value := h.given.Load()
	if value == nil {
		panic(fmt.Sprintf("the value of unit %q is used before the unit is ready", h.unit))
	}
	return *value
}
