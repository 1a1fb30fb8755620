// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/operation"
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

// ConfigurationProblem marks an error as one that a change of the shoot or of the cloud profile ends.
func ConfigurationProblem(err error) error {
	return operation.WithCodes(err, gardencorev1beta1.ErrorCodeConfigurationProblem)
}
