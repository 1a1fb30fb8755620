// SPDX-License-Identifier: Apache-2.0

package flow_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/clock"

	"github.com/terrarium-garden/terrarium/controllers/flow"
)

func TestReadersWaitForTheWriterOfTheirValue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		address := flow.NewValue[string]("address")
		var got []string
		g := compile(t,
			flow.Task{ID: "reader", Reads: []flow.Slot{address}, Do: func(ctx context.Context) error {
				got = append(got, address.Get(ctx))
				return nil
			}},
			flow.Task{ID: "writer", Sets: []flow.Slot{address}, Do: func(ctx context.Context) error {
				<-clock.RealClock{}.After(time.Second)
				address.Set(ctx, fmt.Sprintf("10.0.0.%d", len(got)))
				return nil
			}},
		)
		for range 2 {
			if err := g.Run(t.Context(), flow.Options{Clock: clock.RealClock{}}); err != nil {
				t.Fatalf("Run(...) returned %v", err)
			}
		}
		if diff := cmp.Diff([]string{"10.0.0.0", "10.0.0.1"}, got); diff != "" {
			t.Errorf("each run has values of its own: what the reader read (-want +got):\n%s", diff)
		}
	})
}

func TestReadersOfAFailedWriterDoNotRun(t *testing.T) {
	t.Parallel()
	value := flow.NewValue[int]("value")
	err := compile(t,
		flow.Task{ID: "writer", Sets: []flow.Slot{value}, Do: func(ctx context.Context) error {
			value.Set(ctx, 1)
			return errBoom
		}},
		flow.Task{ID: "reader", Reads: []flow.Slot{value}, Do: func(context.Context) error { return errors.New("ran") }},
	).Run(t.Context(), flow.Options{Clock: clock.RealClock{}})
	if want := `task "writer" failed: boom`; err == nil || err.Error() != want {
		t.Errorf("Run(...) = %v, want %s", err, want)
	}
}

func TestCompileRefusesValuesThatWillNotBeSet(t *testing.T) {
	t.Parallel()
	value := flow.NewValue[string]("address")
	slots := []flow.Slot{value}
	task := func(id flow.ID, sets, reads []flow.Slot, skip bool) flow.Task {
		return flow.Task{ID: id, Title: "Doing " + string(id), Sets: sets, Reads: reads, Skip: skip, Do: nothing}
	}
	cases := map[string]struct {
		reason string
		tasks  []flow.Task
		want   string
	}{
		"NoWriter": {
			reason: "no task sets the value",
			tasks:  []flow.Task{task("reader", nil, slots, false)},
			want:   `compile flow "shoot": task "reader" reads value "address", which no task sets`,
		},
		"NoWriterForASkippedReader": {
			reason: "a missing writer is a mistake in the flow, whatever is skipped this time",
			tasks:  []flow.Task{task("reader", nil, slots, true)},
			want:   `compile flow "shoot": task "reader" reads value "address", which no task sets`,
		},
		"TwoWriters": {
			reason: "a reader could not know whose value it gets",
			tasks:  []flow.Task{task("one", slots, nil, false), task("two", slots, nil, false), task("reader", nil, slots, false)},
			want:   `compile flow "shoot": value "address" is set by "one" and by "two"`,
		},
		"SkippedWriter": {
			reason: "a skipped task counts as done, but sets nothing",
			tasks:  []flow.Task{task("writer", slots, nil, true), task("reader", nil, slots, false)},
			want:   `compile flow "shoot": task "reader" reads value "address", but "writer", which sets it, is skipped`,
		},
		"Cycle": {
			reason: "values make edges like any others",
			tasks:  []flow.Task{task("reader", nil, slots, false), {ID: "writer", Title: "Writing", Sets: slots, After: []flow.ID{"reader"}, Do: nothing}},
			want:   `compile flow "shoot": tasks wait for each other: reader -> writer -> reader`,
		},
		"BothSkipped":   {reason: "no task needs the value", tasks: []flow.Task{task("writer", slots, nil, true), task("reader", nil, slots, true)}},
		"SkippedReader": {reason: "not every value is needed", tasks: []flow.Task{task("writer", slots, nil, false), task("reader", nil, slots, true)}},
		"OneOfTwoWriters": {
			reason: "two ways to the same value, of which one is taken",
			tasks:  []flow.Task{task("made", slots, nil, true), task("restored", slots, nil, false), task("reader", nil, slots, false)},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := flow.Compile("shoot", tc.tasks...)
			got := ""
			if err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nCompile(...) (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestValuesAreUsedAsDeclared(t *testing.T) {
	t.Parallel()
	value := flow.NewValue[int]("value")
	set := flow.Task{ID: "writer", Sets: []flow.Slot{value}, Do: func(ctx context.Context) error {
		value.Set(ctx, 1)
		return nil
	}}
	cases := map[string]struct {
		reason string
		tasks  []flow.Task
		want   string
	}{
		"NotSet": {
			reason: "a reader would get nothing", tasks: []flow.Task{{ID: "writer", Sets: []flow.Slot{value}, Do: nothing}},
			want: `task "writer" failed: value "value" was not set`,
		},
		"SetUndeclared": {
			reason: "Compile could not check it", tasks: []flow.Task{{ID: "writer", Do: set.Do}},
			want: `task "writer" failed: panic: task "writer" sets value "value" without declaring it`,
		},
		"ReadUndeclared": {
			reason: "there is no edge that orders the two", tasks: []flow.Task{set, {ID: "reader", Do: func(ctx context.Context) error {
				value.Get(ctx)
				return nil
			}}},
			want: `task "reader" failed: panic: task "reader" reads value "value" without declaring it`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := compile(t, tc.tasks...).Run(t.Context(), flow.Options{Clock: clock.RealClock{}})
			if err == nil || err.Error() != tc.want {
				t.Errorf("%s\nRun(...) = %v, want %s", tc.reason, err, tc.want)
			}
		})
	}
}

func TestTasksWithoutALimitEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begin := clock.RealClock{}.Now()
		err := compile(t, flow.Task{ID: "hangs", Do: func(ctx context.Context) error {
			<-ctx.Done()
			return errBoom
		}}).Run(t.Context(), flow.Options{Clock: clock.RealClock{}})
		if want := `task "hangs" failed: not done within 15m0s: boom`; err == nil || err.Error() != want {
			t.Errorf("Run(...) = %v, want %s", err, want)
		}
		if took := (clock.RealClock{}).Since(begin); took != flow.DefaultTimeout {
			t.Errorf("took %s, want %s", took, flow.DefaultTimeout)
		}
	})
}
