// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"errors"
	"slices"
	"time"
	"unicode"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/extension"
	"github.com/terrarium-garden/terrarium/controllers/flow"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const (
	// taskInitialize is the id of errors from before the first task.
	taskInitialize = "initializeOperation"
	retryHint      = "; the operation will be retried"
	maxDescription = 4096
)

// Started is the status at the start of an operation.
func Started(shoot *gardencorev1beta1.Shoot, kind gardencorev1beta1.LastOperationType, identity gardencorev1beta1.Gardener, now time.Time) gardencorev1beta1.ShootStatus {
	status := *shoot.Status.DeepCopy()
	last := status.LastOperation
	newCycle := status.RetryCycleStartTime == nil || shoot.Generation != status.ObservedGeneration || status.Gardener.Version != identity.Version ||
		(kind == gardencorev1beta1.LastOperationTypeDelete && last != nil && last.Type != kind)
	if newCycle {
		status.RetryCycleStartTime = new(metav1.NewTime(now))
	}
	if status.UID == "" {
		status.UID = shoot.UID
	}
	if kind != gardencorev1beta1.LastOperationTypeDelete {
		status.SeedName = shoot.Spec.SeedName
	}
	status.LastErrors = slices.DeleteFunc(status.LastErrors, func(e gardencorev1beta1.LastError) bool {
		return e.TaskID != nil && *e.TaskID == taskInitialize
	})
	status.ObservedGeneration = shoot.Generation
	status.Gardener = identity
	status.LastOperation = &gardencorev1beta1.LastOperation{
		Type: kind, State: gardencorev1beta1.LastOperationStateProcessing, Progress: 0,
		Description: beginning(kind), LastUpdateTime: metav1.NewTime(now),
	}
	return status
}

func beginning(kind gardencorev1beta1.LastOperationType) string {
	switch kind {
	case gardencorev1beta1.LastOperationTypeCreate:
		return "Creation of the shoot cluster has begun"
	case gardencorev1beta1.LastOperationTypeDelete:
		return "Deletion of the shoot cluster has begun"
	default:
		return "Reconciliation of the shoot cluster has begun"
	}
}

// Progressed is the status after a report of a running flow: errors of tasks that have succeeded by now are gone.
func Progressed(status gardencorev1beta1.ShootStatus, p flow.Progress, now time.Time) gardencorev1beta1.ShootStatus {
	next := *status.DeepCopy()
	next.LastOperation.Progress = p.Percent()
	next.LastOperation.Description = p.Description()
	next.LastOperation.LastUpdateTime = metav1.NewTime(now)
	next.LastErrors = slices.DeleteFunc(next.LastErrors, func(e gardencorev1beta1.LastError) bool {
		return e.TaskID != nil && slices.Contains(p.Succeeded, flow.ID(*e.TaskID))
	})
	return next
}

// Succeeded is the status after an operation that succeeded. The conditions are to be looked at again.
func Succeeded(shoot *gardencorev1beta1.Shoot, now time.Time) gardencorev1beta1.ShootStatus {
	next := *shoot.Status.DeepCopy()
	kind := next.LastOperation.Type
	next.LastOperation = &gardencorev1beta1.LastOperation{
		Type: kind, State: gardencorev1beta1.LastOperationStateSucceeded, Progress: 100, Description: ended(kind), LastUpdateTime: metav1.NewTime(now),
	}
	next.LastErrors = nil
	next.RetryCycleStartTime = nil
	if kind != gardencorev1beta1.LastOperationTypeDelete {
		next.SeedName = shoot.Spec.SeedName
		next.Conditions = reevaluate(next.Conditions, now)
		next.Constraints = reevaluate(Unserved(shoot, now), now)
	}
	return next
}

func ended(kind gardencorev1beta1.LastOperationType) string {
	switch kind {
	case gardencorev1beta1.LastOperationTypeCreate:
		return "The shoot cluster has been created"
	case gardencorev1beta1.LastOperationTypeDelete:
		return "The shoot cluster has been deleted"
	default:
		return "The shoot cluster has been reconciled"
	}
}

// Waiting is the status while the seed is not ready for operations. Only a new reason is a change.
func Waiting(status gardencorev1beta1.ShootStatus, kind gardencorev1beta1.LastOperationType, reason error, now time.Time) gardencorev1beta1.ShootStatus {
	next := *status.DeepCopy()
	want := gardencorev1beta1.LastOperation{
		Type: kind, State: gardencorev1beta1.LastOperationStateError, Description: upperFirst(cut(reason.Error())) + retryHint,
		LastUpdateTime: metav1.NewTime(now),
	}
	if last := next.LastOperation; last != nil {
		want.Progress = last.Progress
		if last.State == want.State && last.Description == want.Description {
			return next
		}
	}
	next.LastOperation = &want
	return next
}

// Pending is the status of a shoot that must not be made for now.
func Pending(status gardencorev1beta1.ShootStatus, now time.Time) gardencorev1beta1.ShootStatus {
	next := *status.DeepCopy()
	next.LastOperation = &gardencorev1beta1.LastOperation{
		Type: gardencorev1beta1.LastOperationTypeCreate, State: gardencorev1beta1.LastOperationStatePending,
		Description: "The shoot is ignored: annotation " + gardencorev1beta1.AnnotationShootIgnore + " is set", LastUpdateTime: metav1.NewTime(now),
	}
	return next
}

// Failure is an operation that did not succeed.
type Failure struct {
	// Err is what went wrong: the error of a flow, or one from before the first task.
	Err error
	// RetryDuration is how long an operation is tried again.
	RetryDuration time.Duration
}

// Failed is the status after an operation that did not succeed: Error if it is tried again, Failed if its owner has to act.
func Failed(status gardencorev1beta1.ShootStatus, f Failure, now time.Time) gardencorev1beta1.ShootStatus {
	next := *status.DeepCopy()
	if next.LastOperation == nil {
		next.LastOperation = &gardencorev1beta1.LastOperation{Type: gardencorev1beta1.LastOperationTypeCreate}
	}
	next.LastErrors = lastErrors(f.Err, now)
	final := slices.ContainsFunc(next.LastErrors, func(e gardencorev1beta1.LastError) bool { return slices.ContainsFunc(e.Codes, nonRetryable) })
	expired := next.RetryCycleStartTime != nil && now.Sub(next.RetryCycleStartTime.Time) >= f.RetryDuration
	next.LastOperation.State = gardencorev1beta1.LastOperationStateError
	next.LastOperation.Description = upperFirst(cut(f.Err.Error())) + retryHint
	if final || expired {
		next.LastOperation.State = gardencorev1beta1.LastOperationStateFailed
		next.LastOperation.Description = upperFirst(cut(f.Err.Error()))
		next.RetryCycleStartTime = nil
	}
	next.LastOperation.LastUpdateTime = metav1.NewTime(now)
	return next
}

// Aborted is the status after an operation that was cut off because the gardenlet stops.
func Aborted(status gardencorev1beta1.ShootStatus, now time.Time) gardencorev1beta1.ShootStatus {
	next := *status.DeepCopy()
	if next.LastOperation != nil {
		next.LastOperation.State = gardencorev1beta1.LastOperationStateAborted
		next.LastOperation.LastUpdateTime = metav1.NewTime(now)
	}
	return next
}

// reevaluate makes the conditions that are not False Progressing until somebody has looked again.
func reevaluate(conditions []gardencorev1beta1.Condition, now time.Time) []gardencorev1beta1.Condition {
	for _, c := range conditions {
		if c.Status == gardencorev1beta1.ConditionFalse || !slices.Contains(reevaluatedTypes(), c.Type) {
			continue
		}
		c.Status = gardencorev1beta1.ConditionProgressing
		conditions = kit.SetCondition(conditions, c, now)
	}
	return conditions
}

func reevaluatedTypes() []gardencorev1beta1.ConditionType {
	return []gardencorev1beta1.ConditionType{
		gardencorev1beta1.ConditionTypeAPIServerAvailable,
		gardencorev1beta1.ConditionTypeControlPlaneHealthy,
		gardencorev1beta1.ConditionTypeObservabilityComponentsHealthy,
		gardencorev1beta1.ConditionTypeEveryNodeReady,
		gardencorev1beta1.ConditionTypeSystemComponentsHealthy,
		gardencorev1beta1.ConditionTypeHibernationPossible,
		gardencorev1beta1.ConditionTypeMaintenancePreconditionsSatisfied,
	}
}

// lastErrors has an entry for each failed task, or a single one if no task ran.
func lastErrors(err error, now time.Time) []gardencorev1beta1.LastError {
	entry := func(id string, err error) gardencorev1beta1.LastError {
		e := gardencorev1beta1.LastError{
			Description: cut(err.Error()), Codes: extension.Codes(err), LastUpdateTime: new(metav1.NewTime(now)),
		}
		if id != "" {
			e.TaskID = &id
		}
		return e
	}
	tasks := flow.Errors(err)
	if len(tasks) == 0 {
		id := ""
		if initialize, ok := errors.AsType[*initializeError](err); ok {
			id = initialize.task
		}
		return []gardencorev1beta1.LastError{entry(id, err)}
	}
	entries := make([]gardencorev1beta1.LastError, 0, len(tasks))
	for _, t := range tasks {
		entries = append(entries, entry(string(t.ID), t))
	}
	return entries
}

// initializeError is a failure from before the first task.
type initializeError struct {
	task string
	err  error
}

func (e *initializeError) Error() string { return e.err.Error() }

func (e *initializeError) Unwrap() error { return e.err }

// nonRetryable tells whether an error of that code waits for somebody to act.
func nonRetryable(code gardencorev1beta1.ErrorCode) bool {
	switch code {
	case gardencorev1beta1.ErrorCodeInfraUnauthenticated,
		gardencorev1beta1.ErrorCodeInfraUnauthorized,
		gardencorev1beta1.ErrorCodeInfraDependencies,
		gardencorev1beta1.ErrorCodeInfraQuotaExceeded,
		gardencorev1beta1.ErrorCodeInfraRateLimitsExceeded,
		gardencorev1beta1.ErrorCodeConfigurationProblem,
		gardencorev1beta1.ErrorCodeProblematicWebhook:
		return true
	default:
		return false
	}
}

func upperFirst(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:]
}

func cut(text string) string {
	if len(text) <= maxDescription {
		return text
	}
	end := maxDescription
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}
