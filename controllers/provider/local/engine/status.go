// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const (
	progressStarted = 1
	progressHalf    = 50
	progressDone    = 100
)

// act calls the actor between the two status writes that the contract asks for.
func (r *Reconciler[T]) act(ctx context.Context, object T, operation gardencorev1beta1.LastOperationType, call func(context.Context) error) error {
	if err := r.start(ctx, object, operation); err != nil {
		return err
	}
	before, _ := object.DeepCopyObject().(client.Object)
	limited, cancel := context.WithTimeout(ctx, r.Limit)
	defer cancel()
	err := call(limited)
	r.summarize(object, operation, err)
	if writeErr := r.writeStatus(ctx, object, before); writeErr != nil {
		return errors.Join(err, writeErr)
	}
	return err
}

// start reports that the run began. A run that goes on after waiting has reported it already.
func (r *Reconciler[T]) start(ctx context.Context, object T, operation gardencorev1beta1.LastOperationType) error {
	status := object.GetExtensionStatus()
	last := status.LastOperation
	if last != nil && last.Type == operation && last.State == gardencorev1beta1.LastOperationStateProcessing {
		return nil
	}
	before, _ := object.DeepCopyObject().(client.Object)
	status.LastOperation = r.operation(operation, gardencorev1beta1.LastOperationStateProcessing, progressStarted, started(operation))
	return r.writeStatus(ctx, object, before)
}

// summarize says in the status how the call ended.
func (r *Reconciler[T]) summarize(object T, operation gardencorev1beta1.LastOperationType, err error) {
	status := object.GetExtensionStatus()
	reason, waiting := kit.WaitReason(err)
	switch {
	case err == nil:
		status.LastOperation = r.operation(operation, gardencorev1beta1.LastOperationStateSucceeded, progressDone, succeeded(operation))
		status.LastError = nil
		status.ObservedGeneration = object.GetGeneration()
	case waiting:
		if last := status.LastOperation; last.State == gardencorev1beta1.LastOperationStateProcessing && last.Description == reason {
			return // still the same wait
		}
		status.LastOperation = r.operation(operation, gardencorev1beta1.LastOperationStateProcessing, progressHalf, reason)
	case kit.IsTransient(err):
		// A lost race is repeated at once and is no news to anybody.
	default:
		description := capitalize(err.Error())
		status.LastOperation = r.operation(operation, gardencorev1beta1.LastOperationStateError, progressHalf, description)
		status.LastError = &gardencorev1beta1.LastError{
			Description:    description,
			Codes:          Codes(err),
			LastUpdateTime: new(metav1.NewTime(r.Clock.Now())),
		}
		status.ObservedGeneration = object.GetGeneration()
	}
}

func (r *Reconciler[T]) operation(
	kind gardencorev1beta1.LastOperationType, state gardencorev1beta1.LastOperationState, progress int32, description string,
) *gardencorev1beta1.LastOperation {
	return &gardencorev1beta1.LastOperation{
		Type:           kind,
		State:          state,
		Progress:       progress,
		Description:    description,
		LastUpdateTime: metav1.NewTime(r.Clock.Now()),
	}
}

// writeStatus needs no lock: nobody else may write these fields.
func (r *Reconciler[T]) writeStatus(ctx context.Context, object T, before client.Object) error {
	if same(before, object) {
		return nil
	}
	if err := r.Client.Status().Patch(ctx, object, client.MergeFrom(before)); err != nil {
		return fmt.Errorf("write status of %q: %w", object.GetName(), err)
	}
	return nil
}

func started(operation gardencorev1beta1.LastOperationType) string {
	return string(operation) + " has started"
}

func succeeded(operation gardencorev1beta1.LastOperationType) string {
	return string(operation) + " has succeeded"
}

func capitalize(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	return strings.ToValidUTF8(string(unicode.ToUpper(first))+text[size:], "")
}
