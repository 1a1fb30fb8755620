// SPDX-License-Identifier: Apache-2.0

package flow

import (
	"context"
	"fmt"
	"slices"
	"sync"
)

// Value passes a result from one task of a run to others: one task sets it, tasks that read it wait for that task. Both
// declare it, in Task.Sets and Task.Reads. The Value itself is only a name; its content belongs to a run, so a graph may run
// several times.
//
// Set and Get take the context that the task was started with. Without the declaration they panic, which the run turns
// into an error of the task.
type Value[T any] struct {
	name string
}

// NewValue returns a value. The name appears in errors and pictures.
func NewValue[T any](name string) *Value[T] {
	return &Value[T]{name: name}
}

// Slot is a Value of any type, as tasks declare it.
type Slot interface {
	slot() string
}

func (v *Value[T]) slot() string {
	return v.name
}

// Set stores the value. A task that is retried may set its value again.
func (v *Value[T]) Set(ctx context.Context, value T) {
	s := scopeOf(ctx, v)
	if !slices.Contains(s.task.Sets, Slot(v)) {
		panic(fmt.Sprintf("task %q sets value %q without declaring it", s.task.ID, v.name))
	}
	s.values.put(v, value)
}

// Get returns what was set.
func (v *Value[T]) Get(ctx context.Context) T {
	s := scopeOf(ctx, v)
	if !slices.Contains(s.task.Reads, Slot(v)) {
		panic(fmt.Sprintf("task %q reads value %q without declaring it", s.task.ID, v.name))
	}
	value, _ := s.values.get(v).(T) // the writer is done, and Set fixes the type; a nil interface is the zero value
	return value
}

// scope is what a task sees of its run. It travels in the context of the task.
type scope struct {
	task   *Task
	values *values
}

type scopeKey struct{}

func scopeOf(ctx context.Context, slot Slot) *scope {
	s, ok := ctx.Value(scopeKey{}).(*scope)
	if !ok {
		panic(fmt.Sprintf("value %q is used outside of a task", slot.slot()))
	}
	return s
}

// values holds what the tasks of one run have set.
type values struct {
	mu  sync.Mutex
	all map[Slot]any
}

func (v *values) put(slot Slot, value any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.all == nil {
		v.all = map[Slot]any{}
	}
	v.all[slot] = value
}

func (v *values) get(slot Slot) any {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.all[slot]
}

// missing returns an error if the task has not set a value that it declares.
func (v *values) missing(t *Task) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, slot := range t.Sets {
		if _, set := v.all[slot]; !set {
			return fmt.Errorf("value %q was not set", slot.slot())
		}
	}
	return nil
}

// writers returns, for each value, the tasks that set it. All but one of them must be skipped.
func (g *Graph) writers() (map[Slot][]int, []error) {
	var errs []error
	writers := map[Slot][]int{}
	running := map[Slot]ID{}
	for i, t := range g.tasks {
		for _, slot := range t.Sets {
			writers[slot] = append(writers[slot], i)
			if t.Skip {
				continue
			}
			if other, taken := running[slot]; taken {
				errs = append(errs, fmt.Errorf("value %q is set by %q and by %q", slot.slot(), other, t.ID))
			}
			running[slot] = t.ID
		}
	}
	return writers, errs
}

// checkReads returns why the value that a task reads will not be set.
func (g *Graph) checkReads(t Task, slot Slot, writers []int) error {
	if len(writers) == 0 {
		return fmt.Errorf("task %q reads value %q, which no task sets", t.ID, slot.slot())
	}
	runs := func(i int) bool { return !g.tasks[i].Skip }
	if !t.Skip && !slices.ContainsFunc(writers, runs) {
		return fmt.Errorf("task %q reads value %q, but %q, which sets it, is skipped", t.ID, slot.slot(), g.tasks[writers[0]].ID)
	}
	return nil
}
