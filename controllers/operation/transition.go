// SPDX-License-Identifier: Apache-2.0

package operation

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/flow"
)

const (
	retryHint      = "; the operation will be retried"
	maxDescription = 4096
)

// Succeeded reports whether there is a last operation and it has succeeded.
func Succeeded(last *gardencorev1beta1.LastOperation) bool {
	return last != nil && last.State == gardencorev1beta1.LastOperationStateSucceeded
}

// begin makes the status that of an operation that begins. One of the same type that is under way continues, unless the run has to
// begin anew. It reports whether this is a new operation.
func begin(f Fields, kind gardencorev1beta1.LastOperationType, anew bool, now time.Time) bool {
	last := *f.LastOperation
	other := last == nil || last.Type != kind
	deletion := kind == gardencorev1beta1.LastOperationTypeDelete && last != nil && other
	if f.RetryCycle != nil && (*f.RetryCycle == nil || anew || deletion) {
		*f.RetryCycle = new(metav1.NewTime(now))
	}
	dropErrors(f, StepInitialize)
	if !other && !anew && last.State == gardencorev1beta1.LastOperationStateProcessing {
		return false
	}
	*f.LastOperation = &gardencorev1beta1.LastOperation{Type: kind, State: gardencorev1beta1.LastOperationStateProcessing, LastUpdateTime: metav1.NewTime(now)}
	return true
}

// underWay returns the operation of the status. If there is none, it becomes a creation.
func underWay(f Fields) *gardencorev1beta1.LastOperation {
	if *f.LastOperation == nil {
		*f.LastOperation = &gardencorev1beta1.LastOperation{Type: gardencorev1beta1.LastOperationTypeCreate}
	}
	return *f.LastOperation
}

// wait shows what the operation waits for.
func wait(f Fields, reason string, now time.Time) {
	last := underWay(f)
	last.State, last.Description, last.LastUpdateTime = gardencorev1beta1.LastOperationStateProcessing, describe(reason), metav1.NewTime(now)
}

// outlast shows the error of a step beside what the operation waits for. The other errors stay.
func outlast(f Fields, step *stepError, now time.Time) {
	if f.LastErrors == nil {
		return
	}
	dropErrors(f, flow.ID(step.id))
	*f.LastErrors = append(*f.LastErrors, errorsOf(step, now)...)
}

// advance shows the progress of a flow and removes the errors of tasks that have succeeded.
func advance(f Fields, p flow.Progress, now time.Time) {
	last := *f.LastOperation
	last.Progress, last.Description, last.LastUpdateTime = p.Percent(), p.Description(), metav1.NewTime(now)
	dropErrors(f, p.Succeeded...)
}

// succeed ends the operation with success.
func succeed(f Fields, description string, now time.Time) {
	*f.LastOperation = &gardencorev1beta1.LastOperation{
		Type: underWay(f).Type, State: gardencorev1beta1.LastOperationStateSucceeded, Progress: 100,
		Description: description, LastUpdateTime: metav1.NewTime(now),
	}
	unset(f.LastErrors)
	unset(f.LastError)
	unset(f.RetryCycle)
	if f.Observe != nil {
		f.Observe()
	}
}

// unset clears a field that the kind may not have.
func unset[T any](field *T) {
	if field != nil {
		*field = *new(T)
	}
}

// setback is the failure of an operation.
type setback struct {
	err error
	// patience is how long an operation is tried again.
	patience time.Duration
	hint     bool
}

// fail ends the operation with an error: it is in state Error if it is tried again, and Failed if its owner has to act.
func fail(f Fields, s setback, now time.Time) {
	last := underWay(f)
	last.State, last.LastUpdateTime = gardencorev1beta1.LastOperationStateError, metav1.NewTime(now)
	last.Description = describe(s.err.Error())
	if f.LastErrors != nil {
		*f.LastErrors = errorsOf(s.err, now)
	}
	if f.LastError != nil {
		*f.LastError = &gardencorev1beta1.LastError{Description: last.Description, Codes: Codes(s.err), LastUpdateTime: new(metav1.NewTime(now))}
	}
	if f.Observe != nil {
		f.Observe()
	}
	if f.RetryCycle != nil {
		expired := *f.RetryCycle != nil && now.Sub((*f.RetryCycle).Time) >= s.patience
		if expired || slices.ContainsFunc(Codes(s.err), Final) {
			last.State = gardencorev1beta1.LastOperationStateFailed
			*f.RetryCycle = nil
			return
		}
	}
	if s.hint {
		last.Description += retryHint
	}
}

// abort ends an operation that is under way, because of what has ended its context. The errors of before are not solved and stay.
func abort(f Fields, cause error, now time.Time) {
	last := *f.LastOperation
	last.State, last.LastUpdateTime = gardencorev1beta1.LastOperationStateAborted, metav1.NewTime(now)
	interrupted, ok := errors.AsType[*InterruptedError](cause)
	if !ok {
		return
	}
	last.Description = describe(interrupted.Reason)
	if f.LastErrors != nil {
		*f.LastErrors = append(*f.LastErrors, gardencorev1beta1.LastError{Description: last.Description, LastUpdateTime: new(metav1.NewTime(now))})
	}
}

// hold shows a state with a reason while there is no run.
func hold(f Fields, want gardencorev1beta1.LastOperation, now time.Time) {
	if last := *f.LastOperation; last != nil {
		want.Progress = last.Progress
	}
	want.LastUpdateTime = metav1.NewTime(now)
	*f.LastOperation = &want
}

// keepTimes restores the times of what has not changed since the status was written, so that the same statement writes nothing.
func keepTimes(before, after Fields) {
	have, want := *before.LastOperation, *after.LastOperation
	if have == nil || want == nil || !same(have, want) {
		return
	}
	want.LastUpdateTime = have.LastUpdateTime
	if after.LastErrors != nil {
		for i := range *after.LastErrors {
			e := &(*after.LastErrors)[i]
			if i < len(*before.LastErrors) && sameError(e, &(*before.LastErrors)[i]) {
				e.LastUpdateTime = (*before.LastErrors)[i].LastUpdateTime
			}
		}
	}
	if after.LastError != nil && *after.LastError != nil && *before.LastError != nil && sameError(*after.LastError, *before.LastError) {
		(*after.LastError).LastUpdateTime = (*before.LastError).LastUpdateTime
	}
}

// same reports whether two operations are equal apart from their times.
func same(a, b *gardencorev1beta1.LastOperation) bool {
	return a.Type == b.Type && a.State == b.State && a.Progress == b.Progress && a.Description == b.Description
}

func sameError(a, b *gardencorev1beta1.LastError) bool {
	return ptr.Deref(a.TaskID, "") == ptr.Deref(b.TaskID, "") && a.Description == b.Description && slices.Equal(a.Codes, b.Codes)
}

func dropErrors(f Fields, ids ...flow.ID) {
	if f.LastErrors == nil {
		return
	}
	*f.LastErrors = slices.DeleteFunc(*f.LastErrors, func(e gardencorev1beta1.LastError) bool {
		return e.TaskID != nil && slices.Contains(ids, flow.ID(*e.TaskID))
	})
}

// begun is the description of an operation that has begun.
func begun(kind gardencorev1beta1.LastOperationType, noun string) string {
	name := map[gardencorev1beta1.LastOperationType]string{
		gardencorev1beta1.LastOperationTypeCreate:  "Creation",
		gardencorev1beta1.LastOperationTypeDelete:  "Deletion",
		gardencorev1beta1.LastOperationTypeMigrate: "Migration",
		gardencorev1beta1.LastOperationTypeRestore: "Restoration",
	}[kind]
	return cmp.Or(name, "Reconciliation") + " of " + noun + " has begun"
}

// ended is the description of an operation that has succeeded, such as "The seed has been reconciled".
func ended(kind gardencorev1beta1.LastOperationType, noun string) string {
	return upperFirst(noun) + " has been " + strings.TrimSuffix(strings.ToLower(string(kind)), "e") + "ed"
}

// describe makes a description of a reason or an error.
func describe(text string) string { return upperFirst(Cut(text)) }

func upperFirst(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	return strings.ToValidUTF8(string(unicode.ToUpper(first))+text[size:], "")
}

// Cut cuts a text to the length of a description.
func Cut(text string) string {
	if len(text) <= maxDescription {
		return text
	}
	return strings.ToValidUTF8(text[:maxDescription], "") + "…"
}
