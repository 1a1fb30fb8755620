// SPDX-License-Identifier: Apache-2.0

package rotation

import (
	"context"
	"errors"
	"fmt"
	"slices"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenoperatorv1alpha1 "github.com/terrarium-garden/terrarium/apis/operator/v1alpha1"
)

// all are the operations that starting or completing the rotation of all credentials consists of. The key with which objects are stored
// completes by itself, and the password of monitoring is changed at once (OPER-ROT-4).
func (r *Rotations) all(complete bool) []operation {
	wanted := []string{
		gardencorev1beta1.OperationRotateServiceAccountKeyStart, gardenoperatorv1alpha1.OperationRotateWorkloadIdentityKeyStart,
		gardencorev1beta1.OperationRotateETCDEncryptionKey, gardencorev1beta1.OperationRotateCAStart,
		// When one of the others fails, all are asked for again. A password would be changed again each time, so it comes last.
		gardencorev1beta1.OperationRotateObservabilityCredentials,
	}
	if complete {
		wanted = []string{
			gardencorev1beta1.OperationRotateServiceAccountKeyComplete, gardenoperatorv1alpha1.OperationRotateWorkloadIdentityKeyComplete,
			gardencorev1beta1.OperationRotateCAComplete,
		}
	}
	var parts []operation
	for _, o := range r.single() {
		if slices.Contains(wanted, o.name) {
			parts = append(parts, o)
		}
	}
	slices.SortFunc(parts, func(a, b operation) int { return slices.Index(wanted, a.name) - slices.Index(wanted, b.name) })

	return parts
}

// mayRotateAll returns why not all credentials can be rotated now: none is, if one cannot be.
func (r *Rotations) mayRotateAll(ctx context.Context, complete bool) error {
	var errs []error
	for _, part := range r.all(complete) {
		if err := part.may(ctx); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", part.name, err))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return RefusedError{err}
	}

	return nil
}

// rotateAll starts or completes the rotation of all credentials. What has been done already is left out, so that it can be repeated after
// the server was killed.
func (r *Rotations) rotateAll(ctx context.Context, complete bool) error {
	for _, part := range r.all(complete) {
		if err := part.perform(ctx); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
	}

	return nil
}

// rotateAllNow is rotateAll for who does not ask by way of the API, which asks whether it is possible before it accepts an operation.
func (r *Rotations) rotateAllNow(ctx context.Context, complete bool) error {
	if err := r.mayRotateAll(ctx, complete); err != nil {
		return err
	}

	return r.rotateAll(ctx, complete)
}
