// SPDX-License-Identifier: Apache-2.0

package operation

import (
	"context"
	"fmt"
	"reflect"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// change changes the fields of the operation, and possibly other fields of the object.
type change[T client.Object] func(f Fields, object T, now time.Time)

// voice says whether a transition is recorded as an event.
type voice bool

const (
	loud  voice = true
	quiet voice = false
)

// move makes a transition and writes it. If the last operation has changed, it tells the journal and records an event.
func (o *Operation[T]) move(ctx context.Context, v voice, transition change[T], others ...func(object T)) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	from := *o.machine.Kind.Fields(o.before()).LastOperation
	if err := o.write(ctx, transition, others...); err != nil {
		return err
	}
	f := o.fields()
	to := *f.LastOperation
	if to == nil || (from != nil && same(from, to)) {
		return nil
	}
	if o.machine.Journal != nil {
		entry := Transition{Time: to.LastUpdateTime.Time, From: from.DeepCopy(), To: *to, Errors: f.errors()}
		o.machine.Journal.Transition(o.subject, entry)
	}
	if v == loud && o.machine.Recorder != nil {
		kit.Record(o.machine.Recorder, o.object, notice(to))
	}
	return nil
}

func notice(to *gardencorev1beta1.LastOperation) kit.Notice {
	n := kit.Notice{Type: corev1.EventTypeNormal, Action: gardencorev1beta1.EventActionReconcile, Message: to.Description}
	begun, done, failed := gardencorev1beta1.EventReconciling, gardencorev1beta1.EventReconciled, gardencorev1beta1.EventReconcileError
	if to.Type == gardencorev1beta1.LastOperationTypeDelete {
		n.Action = gardencorev1beta1.EventActionDelete
		begun, done, failed = gardencorev1beta1.EventDeleting, gardencorev1beta1.EventDeleted, gardencorev1beta1.EventDeleteError
	}
	switch to.State {
	case gardencorev1beta1.LastOperationStateProcessing:
		n.Reason = begun
	case gardencorev1beta1.LastOperationStateSucceeded:
		n.Reason = done
	case gardencorev1beta1.LastOperationStateError, gardencorev1beta1.LastOperationStateFailed:
		n.Type, n.Reason = corev1.EventTypeWarning, failed
	default:
	}
	return n
}

// set makes a change and writes it.
func (o *Operation[T]) set(ctx context.Context, c change[T]) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.write(ctx, c)
}

// write makes a change and writes what differs, also what could not be written before. Fields that only operations write need
// no lock. Conditions need one, because a patch replaces the whole list with those of other writers: changes of them are made on the
// current object, and repeated after a conflict.
func (o *Operation[T]) write(ctx context.Context, c change[T], others ...func(object T)) error {
	now := o.machine.Clock.Now()
	if len(others) == 0 {
		o.apply(c, now)
		return o.commit.WriteOwnStatus(ctx)
	}
	start := clone(o.object)
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		reflect.ValueOf(o.object).Elem().Set(reflect.ValueOf(clone(start)).Elem())
		if err := o.takeConditions(ctx); err != nil {
			return err
		}
		o.apply(c, now, others...)
		return o.commit.WriteStatus(ctx)
	})
}

func (o *Operation[T]) apply(c change[T], now time.Time, others ...func(object T)) {
	c(o.fields(), o.object, now)
	for _, other := range others {
		other(o.object)
	}
	keepTimes(o.machine.Kind.Fields(o.before()), o.fields())
}

// takeConditions copies the conditions of the current object, which others may have written, and its resource version.
func (o *Operation[T]) takeConditions(ctx context.Context) error {
	live := clone(o.object)
	if err := o.machine.Reader.Get(ctx, client.ObjectKeyFromObject(live), live); err != nil {
		return fmt.Errorf("read the conditions of %q: %w", live.GetName(), err)
	}
	for _, into := range []T{o.object, o.before()} {
		into.SetResourceVersion(live.GetResourceVersion())
		theirs := o.machine.Kind.Fields(clone(live)).Conditions
		for i, list := range o.machine.Kind.Fields(into).Conditions {
			*list = *theirs[i]
		}
	}
	return nil
}

func (o *Operation[T]) fields() Fields { return o.machine.Kind.Fields(o.object) }

// before is the object as it was last written.
func (o *Operation[T]) before() T { return o.commit.Before().(T) } //nolint:forcetypeassert // a copy of o.object

// pending sets the progress of an operation that has not succeeded, for kinds that have no tasks to count.
func (o *Operation[T]) pending(f Fields) {
	if last := *f.LastOperation; last != nil && o.machine.Kind.Pending != 0 {
		last.Progress = o.machine.Kind.Pending
	}
}

func clone[T client.Object](object T) T {
	return object.DeepCopyObject().(T) //nolint:forcetypeassert // a copy has the same type
}
