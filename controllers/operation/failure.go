// SPDX-License-Identifier: Apache-2.0

package operation

import (
	"errors"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/flow"
)

// StepInitialize is the id of errors from before the first task. The next run begins without them.
const StepInitialize = "initializeOperation"

type stepError struct {
	id  string
	err error
}

func (e *stepError) Error() string { return e.err.Error() }

func (e *stepError) Unwrap() error { return e.err }

// AtStep says which step an error comes from that no task has returned. It stands in the last error like the id of a task.
func AtStep(id string, err error) error {
	if err == nil {
		return nil
	}
	return &stepError{id: id, err: err}
}

// errorsOf has an entry for each failed task, or a single one if no task ran.
func errorsOf(err error, now time.Time) []gardencorev1beta1.LastError {
	entry := func(id string, err error) gardencorev1beta1.LastError {
		e := gardencorev1beta1.LastError{Description: Cut(err.Error()), Codes: Codes(err), LastUpdateTime: new(metav1.NewTime(now))}
		if id != "" {
			e.TaskID = &id
		}
		return e
	}
	tasks := flow.Errors(err)
	if len(tasks) == 0 {
		id := ""
		if step, ok := errors.AsType[*stepError](err); ok {
			id = step.id
		}
		return []gardencorev1beta1.LastError{entry(id, err)}
	}
	entries := make([]gardencorev1beta1.LastError, 0, len(tasks))
	for _, t := range tasks {
		entries = append(entries, entry(string(t.ID), t))
	}
	return entries
}

// final reports whether an error of that code waits for somebody to act.
func final(code gardencorev1beta1.ErrorCode) bool {
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
