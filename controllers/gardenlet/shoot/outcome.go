// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/rotation"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	lastoperation "github.com/terrarium-garden/terrarium/controllers/operation"
)

// account is the status that a run reports on its shoot.
type account = lastoperation.Operation[*gardencorev1beta1.Shoot]

// on returns the account of a run on a shoot. The shoot is changed in place from now on.
func (r *Reconciler) on(shoot *gardencorev1beta1.Shoot) *account {
	return lastoperation.Machine[*gardencorev1beta1.Shoot]{
		Kind: lastoperation.Shoots(), Client: r.GardenClient, Reader: r.GardenReader, Recorder: r.Recorder, Clock: r.Clock,
		Patience: r.Config.RetryDuration.Duration, Journal: r.Journal, Flows: r.Flows,
	}.On(shoot)
}

// beginning is the status of a run that begins. A new generation of the shoot and another version of Gardener begin anew.
func beginning(shoot *gardencorev1beta1.Shoot, kind gardencorev1beta1.LastOperationType, identity gardencorev1beta1.Gardener) lastoperation.Start[*gardencorev1beta1.Shoot] {
	return lastoperation.Start[*gardencorev1beta1.Shoot]{
		Type: kind,
		Anew: shoot.Generation != shoot.Status.ObservedGeneration || shoot.Status.Gardener.Version != identity.Version,
		Change: func(s *gardencorev1beta1.Shoot) {
			if s.Status.UID == "" {
				s.Status.UID = s.UID
			}
			if kind != gardencorev1beta1.LastOperationTypeDelete {
				s.Status.SeedName = s.Spec.SeedName
			}
			s.Status.ObservedGeneration = s.Generation
			s.Status.Gardener = identity
		},
	}
}

// succeeded ends a creation or a reconciliation.
func (r *Reconciler) succeeded(ctx context.Context, o *operation) error {
	if err := o.dropSecrets(ctx); err != nil {
		return err
	}
	if err := o.todo().finishRest(ctx); err != nil {
		return err
	}
	if err := o.todo().calmDown(ctx); err != nil {
		return err
	}
	pending, err := o.pendingAfter(ctx)
	if err != nil {
		return err
	}
	now := r.Clock.Now()
	if err := o.status.Succeed(ctx, func(s *gardencorev1beta1.Shoot) {
		s.Status.InPlaceUpdates = pending
		complete(s, o.facts.Power, now)
	}); err != nil {
		return err
	}
	return o.syncCluster(ctx, o.status.Object())
}

// complete changes the status after a creation or a reconciliation. The conditions have to be checked again. Whether the shoot sleeps
// is what the run has done; its owner may want something else by now.
func complete(s *gardencorev1beta1.Shoot, power facts.Power, now time.Time) {
	s.Status.SeedName = s.Spec.SeedName
	s.Status.Hibernated = power != facts.Awake
	rotation.Succeed(s, power == facts.Awake, now)
	s.Status.Conditions = reevaluate(s.Status.Conditions, now)
	s.Status.Constraints = reevaluate(Unserved(s, now), now)
}

// reevaluate makes the conditions that are not False Progressing until they are checked again.
func reevaluate(conditions []gardencorev1beta1.Condition, now time.Time) []gardencorev1beta1.Condition {
	affected := []gardencorev1beta1.ConditionType{
		gardencorev1beta1.ConditionTypeAPIServerAvailable,
		gardencorev1beta1.ConditionTypeControlPlaneHealthy,
		gardencorev1beta1.ConditionTypeObservabilityComponentsHealthy,
		gardencorev1beta1.ConditionTypeEveryNodeReady,
		gardencorev1beta1.ConditionTypeSystemComponentsHealthy,
		gardencorev1beta1.ConditionTypeHibernationPossible,
		gardencorev1beta1.ConditionTypeMaintenancePreconditionsSatisfied,
	}
	for _, c := range conditions {
		if c.Status == gardencorev1beta1.ConditionFalse || !slices.Contains(affected, c.Type) {
			continue
		}
		c.Status = gardencorev1beta1.ConditionProgressing
		conditions = kit.SetCondition(conditions, c, now)
	}
	return conditions
}

// deletedAlready reports whether only the last steps of a deletion are left.
func deletedAlready(shoot *gardencorev1beta1.Shoot) bool {
	last := shoot.Status.LastOperation
	return shoot.DeletionTimestamp != nil && lastoperation.Succeeded(last) && last.Type == gardencorev1beta1.LastOperationTypeDelete
}

// deleted ends a deletion: nothing of the shoot is left in the seed but the Cluster object, which goes before the finalizer.
func (r *Reconciler) deleted(ctx context.Context, shoot *account, namespace string) error {
	cluster := &gardenextensionsv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
	if err := (ground{seed: r.SeedClient, clock: r.Clock}).engine().Delete(ctx, cluster); err != nil {
		return err
	}
	if err := shoot.Succeed(ctx); err != nil {
		return err
	}
	return kit.DropFinalizer(ctx, r.GardenClient, shoot.Object(), gardencorev1beta1.FinalizerGardener)
}

// release ends the deletion of a shoot whose status does not know of any run (GLET-SHOOT-17). A process that has ended while it began the
// first one may have written the Cluster object already. That goes before the finalizer, because it would keep the Seed for ever.
func (r *Reconciler) release(ctx context.Context, shoot *gardencorev1beta1.Shoot) error {
	if err := r.dropCluster(ctx, shoot); err != nil {
		return fmt.Errorf("delete what the extensions were told of shoot %q: %w", shoot.Name, err)
	}
	return kit.DropFinalizer(ctx, r.GardenClient, shoot, gardencorev1beta1.FinalizerGardener)
}

// dropCluster deletes the Cluster object of a shoot, but not that of another shoot with the same technical ID.
func (r *Reconciler) dropCluster(ctx context.Context, shoot *gardencorev1beta1.Shoot) error {
	project, err := r.project(ctx, shoot)
	if errors.Is(err, errNoProject) {
		return nil // No run could begin.
	}
	if err != nil {
		return err
	}
	cluster := &gardenextensionsv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: query.TechnicalID(project, shoot.Name)}}
	if err := r.SeedClient.Get(ctx, client.ObjectKeyFromObject(cluster), cluster); apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
		return nil
	} else if err != nil {
		return fmt.Errorf("get cluster %q: %w", cluster.Name, err)
	}
	told := &metav1.PartialObjectMetadata{}
	if err := json.Unmarshal(cluster.Spec.Shoot.Raw, told); err != nil || told.UID != shoot.UID {
		return nil //nolint:nilerr // It is not known to be that of this shoot.
	}
	return (ground{seed: r.SeedClient, clock: r.Clock}).engine().Delete(ctx, cluster)
}

// failed ends a run with an error. The Cluster object tells extensions if the operation has failed for good.
func (o *operation) failed(ctx context.Context, err error) (reconcile.Result, error) {
	result, err := o.status.Fail(ctx, err)
	if o.status.State() == gardencorev1beta1.LastOperationStateFailed {
		if syncErr := o.syncCluster(ctx, o.status.Object()); syncErr != nil {
			return reconcile.Result{}, fmt.Errorf("%w; and the extensions could not be told: %w", err, syncErr)
		}
	}
	return result, err
}
