// SPDX-License-Identifier: Apache-2.0

package controllerinstallation

import (
	"context"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const (
	// resyncPeriod is the time after which an installation is applied again, against changes in the seed.
	resyncPeriod = 10 * time.Minute
	// deletionPause is the time between two looks at a deletion.
	deletionPause = 5 * time.Second
)

// scope is one pass over one installation.
type scope struct {
	installation *gardencorev1beta1.ControllerInstallation
	registration *gardencorev1beta1.ControllerRegistration
	deployment   *gardencorev1beta1.ControllerDeployment
	seed         *gardencorev1beta1.Seed
	chart        release
	objects      []client.Object
}

// Reconcile installs one extension, or takes it away. Conditions are written whatever happens.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	installation := &gardencorev1beta1.ControllerInstallation{}
	if err := r.GardenClient.Get(ctx, request.NamespacedName, installation); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	s := &scope{installation: installation}
	if installation.DeletionTimestamp != nil {
		return r.delete(ctx, s)
	}
	if err := r.findDeployment(ctx, s); err != nil {
		return reconcile.Result{}, err
	}
	if s.deployment == nil || s.deployment.Type != gardencorev1beta1.ControllerDeploymentTypeHelm {
		return reconcile.Result{}, nil
	}
	if err := kit.EnsureFinalizer(ctx, r.GardenClient, installation, gardencorev1beta1.FinalizerControllerInstallation); err != nil {
		return kit.Result(kit.Stop(), err)
	}
	commit := kit.Begin(r.GardenClient, installation)
	outcome, err := kit.Run(ctx, s, r.findRegistration, r.findSeed, r.readChart, r.render, r.ensureNamespace, r.apply)
	return commit.Status(ctx, outcome, err)
}

// set puts a condition into the status that is written at the end of the pass.
func (r *Reconciler) set(s *scope, kind gardencorev1beta1.ConditionType, status gardencorev1beta1.ConditionStatus, reason, message string) {
	s.installation.Status.Conditions = kit.SetCondition(s.installation.Status.Conditions, gardencorev1beta1.Condition{
		Type: kind, Status: status, Reason: reason, Message: message,
	}, r.Clock.Now())
}

func (r *Reconciler) invalid(s *scope, reason string, err error) (kit.Outcome, error) {
	r.set(s, gardencorev1beta1.ConditionTypeValid, gardencorev1beta1.ConditionFalse, reason, err.Error())
	return kit.Stop(), err
}

// delete removes the objects, then the namespace, then the finalizer (GLET-CI-10).
func (r *Reconciler) delete(ctx context.Context, s *scope) (reconcile.Result, error) {
	if !controllerutil.ContainsFinalizer(s.installation, gardencorev1beta1.FinalizerControllerInstallation) {
		return reconcile.Result{}, nil
	}
	commit := kit.Begin(r.GardenClient, s.installation)
	outcome, err := kit.Run(ctx, s, r.removeObjects, r.removeNamespace)
	_, waiting := kit.WaitReason(err)
	switch {
	case waiting:
		r.set(s, gardencorev1beta1.ConditionTypeInstalled, gardencorev1beta1.ConditionFalse, gardencorev1beta1.ReasonDeletionPending, err.Error())
	case err != nil:
		r.set(s, gardencorev1beta1.ConditionTypeInstalled, gardencorev1beta1.ConditionFalse, gardencorev1beta1.ReasonDeletionFailed, err.Error())
	default:
		return kit.Result(kit.Stop(), kit.DropFinalizer(ctx, r.GardenClient, s.installation, gardencorev1beta1.FinalizerControllerInstallation))
	}
	return commit.Status(ctx, outcome, err)
}
