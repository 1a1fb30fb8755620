// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
)

// Actor does what objects of one kind ask for. Every method is safe to repeat, and may return an error made by kit.Wait to be
// called again without the run counting as failed. What a method changes in the status of the object is written at the end
// of the run; the rest of the object is only read. The cluster is nil for objects that do not belong to a shoot.
type Actor[T gardenextensionsv1alpha1.Object] interface {
	// Reconcile makes the world as the spec says. It serves the operations Create, Reconcile and Restore.
	Reconcile(ctx context.Context, object T, cluster *Cluster) error
	// Delete removes what Reconcile made.
	Delete(ctx context.Context, object T, cluster *Cluster) error
	// Migrate removes what Reconcile made in the seed, and leaves alone what is in the shoot.
	Migrate(ctx context.Context, object T, cluster *Cluster) error
}

type codedError struct {
	err   error
	codes []gardencorev1beta1.ErrorCode
}

func (e *codedError) Error() string { return e.err.Error() }

func (e *codedError) Unwrap() error { return e.err }

// WithCodes adds error codes to an error. They are shown in the last error of the object and of the shoot.
func WithCodes(err error, codes ...gardencorev1beta1.ErrorCode) error {
	if err == nil {
		return nil
	}
	return &codedError{err: err, codes: codes}
}

// Codes returns the codes of the outermost error in the chain that has any.
func Codes(err error) []gardencorev1beta1.ErrorCode {
	if coded, found := errors.AsType[*codedError](err); found {
		return coded.codes
	}
	return nil
}

// ConfigurationProblem marks an error as one that a change of the shoot or of the cloud profile ends.
func ConfigurationProblem(err error) error {
	return WithCodes(err, gardencorev1beta1.ErrorCodeConfigurationProblem)
}
