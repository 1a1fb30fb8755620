// SPDX-License-Identifier: Apache-2.0

package runner_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terrarium-garden/terrarium/appliance/runner"
)

// TestOrder hands a value from unit to unit.
func TestOrder(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	var said []string
	var order runner.Order
	word := runner.Give(&order, "first", func(ctx context.Context, ready func(string)) error {
		ready("sprout")
		<-ctx.Done()
		return nil
	})
	length := runner.Give(&order, "second", func(_ context.Context, ready func(int)) error {
		ready(len(word.Get()))
		return nil
	})
	order.Add("third", func(_ context.Context, ready func()) error {
		if word.Get() == "sprout" && length.Get() == 6 {
			said = append(said, "third")
		}
		ready()
		cancel()
		return nil
	})
	if err := runner.Run(ctx, runner.Options{}, order.Units()...); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, u := range order.Units() {
		names = append(names, u.Name)
	}
	if diff := cmp.Diff([]string{"first", "second", "third"}, names); diff != "" {
		t.Errorf("units start in the order in which they were added (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"third"}, said); diff != "" {
		t.Errorf("later units get what earlier ones give (-want +got):\n%s", diff)
	}
}

// TestHandleTooEarly is a mistake that the order of the units does not prevent: to ask while the order is made.
func TestHandleTooEarly(t *testing.T) {
	t.Parallel()
	var order runner.Order
	word := runner.Give(&order, "slow", func(context.Context, func(string)) error { return nil })
	defer func() {
		if diff := cmp.Diff(any(`the value of unit "slow" is used before the unit is ready`), recover()); diff != "" {
			t.Errorf("panic of Get() before the unit is ready (-want +got):\n%s", diff)
		}
	}()
	word.Get()
}
