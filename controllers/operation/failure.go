// SPDX-License-Identifier: Apache-2.0

package operation

import (
	"errors"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/flow"
)

// StepInitialize is the id of errors from before the first task. The next run removes them.
const StepInitialize = "initializeOperation"

type stepError struct {
	error

	id string
}

func (e *stepError) Unwrap() error { return e.error }

// AtStep attaches the id of a step to an error that no task has returned. It appears in the last error like the id of a task.
func AtStep(id string, err error) error {
	if err == nil {
		return nil
	}
	return &stepError{error: err, id: id}
}

// InterruptedError is the cause of a context that ends a run before it is done, because another one has to take its place. It is not a
// failure of the run: its words tell users why the run is Aborted.
type InterruptedError struct {
	// Reason is a sentence without a capital letter and a full stop.
	Reason string
}

// Error is the reason.
func (e *InterruptedError) Error() string { return e.Reason }

// errorsOf returns an entry for each failed task, or a single one if no task has failed.
func errorsOf(err error, now time.Time) []gardencorev1beta1.LastError {
	entry := func(id *string, err error) gardencorev1beta1.LastError {
		return gardencorev1beta1.LastError{Description: Cut(err.Error()), TaskID: id, Codes: Codes(err), LastUpdateTime: new(metav1.NewTime(now))}
	}
	var entries []gardencorev1beta1.LastError
	for _, t := range flow.Errors(err) {
		entries = append(entries, entry(new(string(t.ID)), t))
	}
	if len(entries) > 0 {
		return entries
	}
	if step, ok := errors.AsType[*stepError](err); ok {
		return []gardencorev1beta1.LastError{entry(&step.id, err)}
	}
	return []gardencorev1beta1.LastError{entry(nil, err)}
}

// Final reports whether somebody has to act on an error of that code before the operation is tried again.
func Final(code gardencorev1beta1.ErrorCode) bool {
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

type codedError struct {
	error

	codes []gardencorev1beta1.ErrorCode
}

func (e *codedError) Unwrap() error { return e.error }

// WithCodes attaches codes to an error. They survive wrapping and appear in the last errors.
func WithCodes(err error, codes ...gardencorev1beta1.ErrorCode) error {
	if err == nil || len(codes) == 0 {
		return err
	}
	return &codedError{error: err, codes: codes}
}

// Limits of the codes of an error or of a condition: extensions make codes up, and a status has to stay small enough to be written.
const (
	// MaxCodes is how many are told at most.
	MaxCodes = 16
	// MaxCode is how many bytes each of them may have.
	MaxCode = 64
)

// Codes returns the codes of an error and of everything that it wraps, sorted, each once, at most MaxCodes. Those on which somebody has to act
// come before others if there are more (GLET-ERR-3).
func Codes(err error) []gardencorev1beta1.ErrorCode {
	var codes []gardencorev1beta1.ErrorCode
	collect(err, &codes)
	codes = slices.DeleteFunc(codes, func(code gardencorev1beta1.ErrorCode) bool { return len(code) > MaxCode })
	slices.Sort(codes)
	codes = slices.Compact(codes)
	if len(codes) <= MaxCodes {
		return codes
	}
	final, others := []gardencorev1beta1.ErrorCode(nil), []gardencorev1beta1.ErrorCode(nil)
	for _, code := range codes {
		if Final(code) {
			final = append(final, code)
		} else {
			others = append(others, code)
		}
	}
	few := slices.Concat(final, others)[:MaxCodes]
	slices.Sort(few)
	return few
}

func collect(err error, into *[]gardencorev1beta1.ErrorCode) {
	if coded, ok := err.(*codedError); ok { //nolint:errorlint // the walk below unwraps
		*into = append(*into, coded.codes...)
	}
	switch wrapped := err.(type) { //nolint:errorlint // this is the walk
	case interface{ Unwrap() error }:
		collect(wrapped.Unwrap(), into)
	case interface{ Unwrap() []error }:
		for _, inner := range wrapped.Unwrap() {
			collect(inner, into)
		}
	}
}
