// SPDX-License-Identifier: Apache-2.0

package extension

import (
	"context"
	"errors"
	"fmt"
	"time"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/extensions"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/flow"
	"github.com/terrarium-garden/terrarium/controllers/operation"
)

const firstPause = 250 * time.Millisecond

// Wait waits until the extension has done the requested work; obj then holds its answer. The error carries the codes of the
// extension.
func (e Engine) Wait(ctx context.Context, obj gardenextensionsv1alpha1.Object, patience extensions.Patience) error {
	return e.WaitFor(ctx, obj, patience, func() bool { return false })
}

// WaitFor is Wait that also ends when obj, as it was read, has what the caller is looking for: an answer may come before the work is done.
func (e Engine) WaitFor(ctx context.Context, obj gardenextensionsv1alpha1.Object, patience extensions.Patience, found func() bool) error {
	err := e.poll(ctx, patience, func(ctx context.Context) (error, bool) {
		live, err := e.get(ctx, obj)
		if err != nil {
			return err, false
		}
		if !live {
			return errors.New("it does not exist"), false
		}
		if found() {
			return nil, false
		}
		return Ready(obj), obj.GetExtensionStatus().LastError != nil
	})
	if err != nil {
		return fmt.Errorf("%s is not ready: %w", describe(obj), err)
	}
	return nil
}

// WaitGone waits until the object does not exist any more. An error that its extension reports is tolerated as long as by Wait.
func (e Engine) WaitGone(ctx context.Context, obj gardenextensionsv1alpha1.Object, patience extensions.Patience) error {
	err := e.poll(ctx, patience, func(ctx context.Context) (error, bool) {
		live, err := e.get(ctx, obj)
		if err != nil || !live {
			return err, false
		}
		if last := obj.GetExtensionStatus().LastError; last != nil {
			return operation.WithCodes(errors.New(last.Description), last.Codes...), true
		}
		return errors.New("it waits for its extension"), false
	})
	if err != nil {
		return fmt.Errorf("%s still exists: %w", describe(obj), err)
	}
	return nil
}

// Ready returns why the extension is not done with the object, or nil. The order of the checks is part of the contract.
func Ready(obj gardenextensionsv1alpha1.Object) error {
	status := obj.GetExtensionStatus()
	request := obj.GetAnnotations()[gardencorev1beta1.AnnotationOperation]
	last := status.LastOperation
	switch {
	case status.LastError != nil:
		return operation.WithCodes(fmt.Errorf("extension %q reports: %s", obj.GetExtensionSpec().Type, status.LastError.Description), status.LastError.Codes...)
	case status.ObservedGeneration != obj.GetGeneration():
		return fmt.Errorf("its generation %d is not observed, only %d", obj.GetGeneration(), status.ObservedGeneration)
	case request != "":
		return fmt.Errorf("its operation %q is not picked up by an extension of type %q yet", request, obj.GetExtensionSpec().Type)
	case last == nil:
		return errors.New("no operation is recorded yet")
	case last.State != gardencorev1beta1.LastOperationStateSucceeded:
		return fmt.Errorf("its operation is in state %s: %s", last.State, last.Description)
	}
	return fresh(obj, last)
}

// fresh returns an error if the last operation is older than the request, compared in seconds as in the status.
func fresh(obj gardenextensionsv1alpha1.Object, last *gardencorev1beta1.LastOperation) error {
	text := obj.GetAnnotations()[gardencorev1beta1.AnnotationTimestamp]
	if text == "" {
		return nil
	}
	asked, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return fmt.Errorf("read annotation %s: %w", gardencorev1beta1.AnnotationTimestamp, err)
	}
	if last.LastUpdateTime.Time.Before(asked.Truncate(time.Second)) {
		return errors.New("its last operation is older than the request")
	}
	return nil
}

// poll asks until there is no error, the timeout is over, or an error that the extension itself reports has lasted too long.
func (e Engine) poll(ctx context.Context, patience extensions.Patience, ask func(ctx context.Context) (err error, reported bool)) error {
	deadline := e.Clock.Now().Add(patience.Timeout)
	var since time.Time
	next := flow.InProportion(e.Clock, firstPause, patience.Interval)
	pause := func() time.Duration { return min(next(), deadline.Sub(e.Clock.Now())) }
	return flow.Until(ctx, e.Clock, pause, func(ctx context.Context) error {
		err, reported := ask(ctx)
		now := e.Clock.Now()
		switch {
		case err == nil:
			return nil
		case !reported:
			since = time.Time{}
		case since.IsZero():
			since = now
		}
		if reported && now.Sub(since) >= patience.Severe {
			return flow.Final(err)
		}
		if !now.Before(deadline) {
			return flow.Final(fmt.Errorf("not within %s: %w", patience.Timeout, err))
		}
		return err
	})
}
