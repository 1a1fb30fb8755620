// SPDX-License-Identifier: Apache-2.0

package managedseedset

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// take takes the step of a plan whose status has been written.
func (r *Reconciler) take(ctx context.Context, view View, plan Plan) error {
	found := view.replica(plan.Replica)
	switch plan.Step {
	case CreateShoot:
		return r.create(ctx, NewShoot(view.Set, plan.Replica))
	case CreateManagedSeed:
		if view.Taken[plan.Replica] {
			return fmt.Errorf("create managed seed %q: there is one that does not belong to the set", plan.Replica)
		}
		managed, err := NewManagedSeed(view.Set, plan.Replica)
		if err != nil {
			return err
		}
		return r.create(ctx, managed)
	case RetryShoot:
		return r.retry(ctx, found.Shoot.DeepCopy())
	case DeleteManagedSeed:
		return kit.Remove(ctx, r.Client, found.ManagedSeed)
	case DeleteShoot:
		return kit.DeleteConfirmed(ctx, r.Client, found.Shoot.DeepCopy())
	case Release:
		return kit.DropFinalizer(ctx, r.Client, view.Set, gardencorev1beta1.FinalizerGardener)
	default:
		return nil
	}
}

// create makes an object of a replica. If it exists by now, somebody was faster; the next pass sees whose it is.
func (r *Reconciler) create(ctx context.Context, object client.Object) error {
	err := r.Client.Create(ctx, object)
	if apierrors.IsAlreadyExists(err) {
		return kit.Wait(takenDelay, fmt.Sprintf("%T %q exists already", object, object.GetName()))
	}
	if err != nil {
		return fmt.Errorf("create %T %q: %w", object, object.GetName(), err)
	}
	return nil
}

// retry starts the failed operation of the shoot again. A shoot that has changed since it was read is not retried.
func (r *Reconciler) retry(ctx context.Context, shoot *gardencorev1beta1.Shoot) error {
	commit := kit.Begin(r.Client, shoot)
	metav1.SetMetaDataAnnotation(&shoot.ObjectMeta, gardencorev1beta1.AnnotationOperation, gardencorev1beta1.OperationRetry)
	return commit.WriteObject(ctx)
}

// tell records the event of a plan (GCM-MSS-12).
func (r *Reconciler) tell(set *gardenseedmanagementv1alpha1.ManagedSeedSet, plan Plan) {
	if plan.Event == "" {
		return
	}
	notice := kit.Notice{Type: corev1.EventTypeNormal, Reason: plan.Event, Action: gardencorev1beta1.EventActionReconcile, Message: message(plan)}
	if plan.Event == gardenseedmanagementv1alpha1.EventNotRetryingShootReconciliation || plan.Event == gardenseedmanagementv1alpha1.EventNotRetryingShootDeletion {
		notice.Type = corev1.EventTypeWarning
	}
	kit.Record(r.Recorder, set, notice)
}

// message says what an event is about.
func message(plan Plan) string {
	format := map[string]string{
		gardenseedmanagementv1alpha1.EventCreatingShoot:                   "Creating shoot %q",
		gardenseedmanagementv1alpha1.EventDeletingShoot:                   "Deleting shoot %q",
		gardenseedmanagementv1alpha1.EventRetryingShootReconciliation:     "Retrying the failed reconciliation of shoot %q",
		gardenseedmanagementv1alpha1.EventNotRetryingShootReconciliation:  "The reconciliation of shoot %q failed too often and is not retried any more",
		gardenseedmanagementv1alpha1.EventRetryingShootDeletion:           "Retrying the failed deletion of shoot %q",
		gardenseedmanagementv1alpha1.EventNotRetryingShootDeletion:        "The deletion of shoot %q failed too often and is not retried any more",
		gardenseedmanagementv1alpha1.EventWaitingForShootReconciled:       "Waiting until shoot %q is reconciled",
		gardenseedmanagementv1alpha1.EventWaitingForShootDeleted:          "Waiting until shoot %q is deleted",
		gardenseedmanagementv1alpha1.EventWaitingForShootHealthy:          "Waiting until shoot %q is healthy",
		gardenseedmanagementv1alpha1.EventCreatingManagedSeed:             "Creating managed seed %q",
		gardenseedmanagementv1alpha1.EventDeletingManagedSeed:             "Deleting managed seed %q",
		gardenseedmanagementv1alpha1.EventWaitingForManagedSeedRegistered: "Waiting until the seed of managed seed %q is registered",
		gardenseedmanagementv1alpha1.EventWaitingForManagedSeedDeleted:    "Waiting until managed seed %q is deleted",
		gardenseedmanagementv1alpha1.EventWaitingForSeedReady:             "Waiting until seed %q is ready",
	}[plan.Event]
	return fmt.Sprintf(format, plan.Replica)
}
