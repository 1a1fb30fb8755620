// SPDX-License-Identifier: Apache-2.0

// Package operation keeps the state of operations in the status of objects: the last operation, the errors, the retry cycle. It is
// the only place that writes them, for every kind that has them, and it tells the journal.
//
// A controller makes one Machine for the kind and one Operation for each run:
//
//	run := machine.On(shoot)
//	run.Begin(ctx, operation.Start[*Shoot]{Type: kind})  // Processing
//	err := run.Run(ctx, graph, period)                   // progress
//	run.Wait(ctx, reason)                                // still Processing, with the reason
//	run.Succeed(ctx)                                     // Succeeded
//	run.Fail(ctx, err)                                   // Error, Failed or Aborted
//
// The time of the last operation changes, and an event is recorded, only if the last operation changes otherwise.
package operation

import (
	"context"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/flow"
	"github.com/terrarium-garden/terrarium/controllers/flowmetrics"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// farewell bounds the last write of a run that was interrupted.
const farewell = 5 * time.Second

// Machine makes operations on the objects of one kind.
type Machine[T client.Object] struct {
	Kind Kind[T]
	// Client writes the status.
	Client client.Client
	// Reader reads around any cache. Succeed needs it if it is given changes.
	Reader client.Reader
	// Recorder writes events; nil writes none.
	Recorder events.EventRecorder
	Clock    clock.Clock
	// Patience is how long an operation is tried again before it is Failed, for kinds that have a retry cycle.
	Patience time.Duration
	// Journal may be nil.
	Journal Journal
	// Flows records the durations of flows; it may be nil.
	Flows *flowmetrics.Recorder
}

// Operation is one run on one object. It knows the state of the object: as it was read, with what was written since.
//
// Others may write the same object: an operation writes only what it changes in the status, and changes conditions only in the
// current object. All methods are safe for concurrent use.
type Operation[T client.Object] struct {
	machine Machine[T]

	subject Subject

	mu     sync.Mutex
	object T
	commit *kit.Commit
	// cycle is the start of the retry cycle that Succeed has ended. It goes on if the run fails after all.
	cycle *metav1.Time
}

// Start is what a run begins with.
type Start[T client.Object] struct {
	Type gardencorev1beta1.LastOperationType
	// Anew is set if the run has another goal than the last one, so that a new retry cycle begins.
	Anew bool
	// Change changes other fields of the status; it may be nil.
	Change func(object T)
}

// On makes an operation on an object as it was read. The object belongs to the operation from now on: it is changed in place.
func (m Machine[T]) On(object T) *Operation[T] {
	subject := Subject{Kind: m.Kind.Name, Namespace: object.GetNamespace(), Name: object.GetName(), UID: object.GetUID()}
	return &Operation[T]{machine: m, subject: subject, object: object, commit: kit.Begin(m.Client, object)}
}

// Plan makes the status that of a run that begins, without writing it. An operation of the same type that is under way continues.
func (o *Operation[T]) Plan(start Start[T]) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.plan(start)(o.fields(), o.object, o.machine.Clock.Now())
}

func (o *Operation[T]) plan(start Start[T]) change[T] {
	return func(f Fields, object T, now time.Time) {
		if begin(f, start.Type, start.Anew, now) {
			(*f.LastOperation).Description, (*f.LastOperation).Progress = begun(start.Type, o.machine.Kind.Noun), o.machine.Kind.Begun
		}
		if start.Change != nil {
			start.Change(object)
		}
	}
}

// Begin writes that a run has begun.
func (o *Operation[T]) Begin(ctx context.Context, start Start[T]) error {
	return o.move(ctx, loud, o.plan(start))
}

// Run runs a graph as part of the operation: its progress is shown, not more often than once a period, and the journal is told
// of its tasks.
func (o *Operation[T]) Run(ctx context.Context, graph *flow.Graph, period time.Duration) error {
	log := ctrl.LoggerFrom(ctx)
	options := flow.Options{Clock: o.machine.Clock, Log: log, ReportPeriod: period, Progress: func(p flow.Progress) {
		if err := o.Progress(ctx, p); err != nil && ctx.Err() == nil {
			log.Info("Progress not reported", "reason", err.Error())
		}
	}}
	if o.machine.Journal != nil {
		options.Observe = func(task flow.Observation) { o.machine.Journal.Task(o.subject, task) }
	}
	return o.machine.Flows.Run(ctx, graph, options)
}

// Progress shows the progress of a flow while the operation is under way. The end of the last task is not shown, because the end of
// the operation follows.
func (o *Operation[T]) Progress(ctx context.Context, p flow.Progress) error {
	return o.set(ctx, func(f Fields, _ T, now time.Time) {
		if last := *f.LastOperation; last != nil && last.State == gardencorev1beta1.LastOperationStateProcessing && len(p.Succeeded) < p.Total {
			advance(f, p, now)
		}
	})
}

// Change changes other fields of the status, and writes what differs. They must be fields that nobody else writes.
func (o *Operation[T]) Change(ctx context.Context, change func(object T)) error {
	return o.set(ctx, func(_ Fields, object T, _ time.Time) { change(object) })
}

// Update changes metadata or the spec. It is refused if somebody else has changed the object since it was read.
func (o *Operation[T]) Update(ctx context.Context, change func(object T)) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	change(o.object)
	return o.commit.WriteObject(ctx)
}

// Object is a copy of the object as the operation knows it.
func (o *Operation[T]) Object() T {
	o.mu.Lock()
	defer o.mu.Unlock()
	return clone(o.object)
}

// State is the state of the last operation; empty if there is none.
func (o *Operation[T]) State() gardencorev1beta1.LastOperationState {
	o.mu.Lock()
	defer o.mu.Unlock()
	if last := *o.fields().LastOperation; last != nil {
		return last.State
	}
	return ""
}

// Journal receives what happens to objects, in order for each object. It is the only source of a timeline. Implementations must be
// safe for concurrent use and return soon, because an operation waits for them.
type Journal interface {
	// Transition is called when a change of the last operation is written, except for progress.
	Transition(subject Subject, transition Transition)
	// Task is called for each task that has ended.
	Task(subject Subject, task flow.Observation)
}

// Subject is the object of an entry in the journal.
type Subject struct {
	Kind, Namespace, Name string
	UID                   types.UID
}

// Transition is a change of the last operation.
type Transition struct {
	Time time.Time
	// From is nil if there was no operation before.
	From *gardencorev1beta1.LastOperation
	To   gardencorev1beta1.LastOperation
	// Errors are those of the object after the change.
	Errors []gardencorev1beta1.LastError
}
