// SPDX-License-Identifier: Apache-2.0

package seedcare

import (
	"context"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/deploy"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/seed"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const (
	reasonDefinitionMissing  = "CustomResourceDefinitionMissing"
	reasonDefinitionNotReady = "CustomResourceDefinitionUnhealthy"
	reasonEmergencyStop      = "EmergencyStopRequested"
)

// Reconcile checks once. Nothing is judged before the first reconciliation has succeeded, nor in deletion.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	object := &gardencorev1beta1.Seed{}
	if err := r.GardenClient.Get(ctx, request.NamespacedName, object); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if object.DeletionTimestamp != nil || object.Status.LastOperation == nil {
		return reconcile.Result{}, nil
	}
	found := r.check(ctx)
	commit := kit.Begin(r.GardenClient, object)
	have := query.FindCondition(object.Status.Conditions, found.Type)
	found.Status = kit.Damp(have, found.Status, kit.Threshold(r.Config.ConditionThresholds, found.Type), r.Clock.Now())
	object.Status.Conditions = kit.SetCondition(object.Status.Conditions, found, r.Clock.Now())
	object.Status.Conditions = emergencyStop(object, r.Clock.Now())
	return commit.Status(ctx, kit.RequeueAfter(r.Config.SyncPeriod.Duration), nil)
}

// emergencyStop shows an emergency stop for as long as it lasts (GLET-SEED-13).
func emergencyStop(seed *gardencorev1beta1.Seed, now time.Time) []gardencorev1beta1.Condition {
	const kind = gardencorev1beta1.ConditionTypeEmergencyStopShootReconciliations
	if query.EmergencyStopped(seed) {
		return kit.SetCondition(seed.Status.Conditions, gardencorev1beta1.Condition{
			Type: kind, Status: gardencorev1beta1.ConditionTrue, Reason: reasonEmergencyStop,
			Message: "All operations on the shoots of this seed are stopped: annotation " + gardencorev1beta1.AnnotationSeedEmergencyStop + " is set",
		}, now)
	}
	return slices.DeleteFunc(slices.Clone(seed.Status.Conditions), func(c gardencorev1beta1.Condition) bool { return c.Type == kind })
}

// check looks at every component. A check that cannot be made says so; it is repeated like any other.
func (r *Reconciler) check(ctx context.Context) gardencorev1beta1.Condition {
	definitions, err := seed.Definitions()
	if err != nil {
		return unknown(err)
	}
	var missing, bad []string
	for _, definition := range definitions {
		name := definition.GetName()
		err := r.SeedClient.Get(ctx, client.ObjectKeyFromObject(definition), definition)
		if apierrors.IsNotFound(err) {
			missing = append(missing, name)
			continue
		}
		if err != nil {
			return unknown(err)
		}
		if ready, reason := deploy.Ready(definition); !ready {
			bad = append(bad, name+": "+reason)
		}
	}
	return Judge(missing, bad)
}

// Judge sums up which components are missing, and which are there but of no use, each with a reason.
func Judge(missing, bad []string) gardencorev1beta1.Condition {
	condition := gardencorev1beta1.Condition{
		Type:    gardencorev1beta1.ConditionTypeSeedSystemComponentsHealthy,
		Status:  gardencorev1beta1.ConditionTrue,
		Reason:  gardencorev1beta1.ReasonSystemComponentsRunning,
		Message: "All system components of the seed are healthy",
	}
	switch {
	case len(missing) > 0:
		condition.Status, condition.Reason = gardencorev1beta1.ConditionFalse, reasonDefinitionMissing
		condition.Message = "Custom resource definitions are missing: " + strings.Join(missing, ", ")
	case len(bad) > 0:
		condition.Status, condition.Reason = gardencorev1beta1.ConditionFalse, reasonDefinitionNotReady
		condition.Message = "Custom resource definitions are not served: " + strings.Join(bad, "; ")
	}
	return condition
}

func unknown(err error) gardencorev1beta1.Condition {
	return gardencorev1beta1.Condition{
		Type:    gardencorev1beta1.ConditionTypeSeedSystemComponentsHealthy,
		Status:  gardencorev1beta1.ConditionUnknown,
		Reason:  gardencorev1beta1.ReasonConditionCheckError,
		Message: "The system components of the seed could not be checked: " + err.Error(),
	}
}
