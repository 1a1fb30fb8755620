// SPDX-License-Identifier: Apache-2.0

// Package care checks installed extensions and reports the conditions Installed, Healthy and Progressing of their
// ControllerInstallations, as the resource manager of the seed has found them.
package care

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/controllerinstallation"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const (
	controllerName = "controllerinstallation-care"
	// impatientPeriod is the time between two checks while a condition is not good.
	impatientPeriod = 2 * time.Second
	// absentPeriod is the same while there is nothing to check, because it is just being made.
	absentPeriod = time.Second
)

var _ kit.Adder = (*Reconciler)(nil)

// Reconciler checks the extensions of one seed.
type Reconciler struct {
	kit.SeedBase

	// Config is the section of the configuration.
	Config *gardenconfigv1alpha1.ControllerInstallationCareControllerConfiguration
}

// AddToManager implements kit.Adder.
func (r *Reconciler) AddToManager(clusters kit.Clusters) error {
	b := r.Controller(clusters, controllerName, kit.Workers(r.Config.ConcurrentSyncs))
	b.For(&gardencorev1beta1.ControllerInstallation{},
		builder.WithPredicates(controllerinstallation.Of(r.SeedName), predicate.Or(predicate.GenerationChangedPredicate{}, installed())))
	return kit.Complete(b, controllerName, r)
}

// installed starts a check as soon as an extension was installed.
func installed() predicate.Predicate {
	return predicate.Funcs{
		UpdateFunc: func(e event.UpdateEvent) bool { return isInstalled(e.ObjectNew) && !isInstalled(e.ObjectOld) },
		DeleteFunc: func(event.DeleteEvent) bool { return false },
	}
}

func isInstalled(object client.Object) bool {
	installation, ok := object.(*gardencorev1beta1.ControllerInstallation)
	return ok && kit.ConditionIs(installation.Status.Conditions, gardencorev1beta1.ConditionTypeInstalled, gardencorev1beta1.ConditionTrue)
}

// Reconcile checks one extension, unless it was never applied or is in deletion.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	installation := &gardencorev1beta1.ControllerInstallation{}
	if err := r.GardenClient.Get(ctx, request.NamespacedName, installation); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if installation.DeletionTimestamp != nil || query.FindCondition(installation.Status.Conditions, gardencorev1beta1.ConditionTypeInstalled) == nil {
		return reconcile.Result{}, nil
	}
	commit := kit.Begin(r.GardenClient, installation)
	pause := r.Config.SyncPeriod.Duration
	mr := &gardenresourcesv1alpha1.ManagedResource{}
	set := controllerinstallation.Set(installation.Name)
	err := r.SeedClient.Get(ctx, client.ObjectKey{Namespace: set.Namespace, Name: set.Name}, mr)
	conditions := Judge(mr)
	if err != nil {
		conditions = Unreadable(err)
	}
	if apierrors.IsNotFound(err) {
		pause = min(pause, absentPeriod)
	}
	for _, condition := range conditions {
		if bad(condition) {
			pause = min(pause, impatientPeriod)
		}
		// The reason of a failed installation says more than that objects are missing.
		have := query.FindCondition(installation.Status.Conditions, condition.Type)
		if condition.Type == gardencorev1beta1.ConditionTypeInstalled && have.Reason == gardencorev1beta1.ReasonInstallationFailed {
			continue
		}
		installation.Status.Conditions = kit.SetCondition(installation.Status.Conditions, condition, r.Clock.Now())
	}
	return commit.Status(ctx, kit.RequeueAfter(pause), nil)
}

func bad(condition gardencorev1beta1.Condition) bool {
	want := gardencorev1beta1.ConditionTrue
	if condition.Type == gardencorev1beta1.ConditionTypeProgressing {
		want = gardencorev1beta1.ConditionFalse
	}
	return condition.Status != want
}

// Judge returns the conditions of an extension for those of its ManagedResource (GLET-CI-7). While a change of the ManagedResource itself has not
// been looked at, the extension is not installed, whatever was said of it before (GRM-HEALTH-6). A change of only the manifests leaves the
// conditions as they are until the resource manager has applied it, so that they do not change back and forth with each.
func Judge(mr *gardenresourcesv1alpha1.ManagedResource) []gardencorev1beta1.Condition {
	pending := condition(gardencorev1beta1.ConditionTypeInstalled, gardencorev1beta1.ConditionFalse, gardencorev1beta1.ReasonInstallationPending, "")
	installed := judge(mr, gardenresourcesv1alpha1.ConditionTypeResourcesApplied, gardencorev1beta1.ConditionTrue,
		condition(gardencorev1beta1.ConditionTypeInstalled, gardencorev1beta1.ConditionTrue, gardencorev1beta1.ReasonInstallationSuccessful, "The extension is installed"),
		pending)
	if installed.Status == gardencorev1beta1.ConditionTrue && mr.Status.ObservedGeneration != mr.Generation {
		installed, installed.Message = pending, "The resource manager of the seed has not looked at the last change of the extension yet"
	}
	return []gardencorev1beta1.Condition{
		installed,
		judge(mr, gardenresourcesv1alpha1.ConditionTypeResourcesHealthy, gardencorev1beta1.ConditionTrue,
			condition(gardencorev1beta1.ConditionTypeHealthy, gardencorev1beta1.ConditionTrue, gardencorev1beta1.ReasonControllerHealthy, "The extension is healthy"),
			condition(gardencorev1beta1.ConditionTypeHealthy, gardencorev1beta1.ConditionFalse, gardencorev1beta1.ReasonControllerNotHealthy, "")),
		judge(mr, gardenresourcesv1alpha1.ConditionTypeResourcesProgressing, gardencorev1beta1.ConditionFalse,
			condition(gardencorev1beta1.ConditionTypeProgressing, gardencorev1beta1.ConditionFalse, gardencorev1beta1.ReasonControllerRolledOut, "The extension runs in its newest version"),
			condition(gardencorev1beta1.ConditionTypeProgressing, gardencorev1beta1.ConditionTrue, gardencorev1beta1.ReasonControllerNotRolledOut, "")),
	}
}

// judge returns the good condition if the ManagedResource says what is wanted, and else the bad one with the reason.
func judge(
	mr *gardenresourcesv1alpha1.ManagedResource, kind gardencorev1beta1.ConditionType, want gardencorev1beta1.ConditionStatus, good, bad gardencorev1beta1.Condition,
) gardencorev1beta1.Condition {
	found := query.FindCondition(mr.Status.Conditions, kind)
	switch {
	case found == nil:
		bad.Message = "The resource manager of the seed has not looked at the extension yet"
	case found.Status == want:
		return good
	case mr.Labels[controllerinstallation.LabelConfidential] != "":
		bad.Message = controllerinstallation.Untold(mr.Namespace, mr.Name)
	default:
		bad.Message = found.Message
	}

	return bad
}

// Unreadable returns the conditions of an extension that cannot be checked.
func Unreadable(err error) []gardencorev1beta1.Condition {
	var conditions []gardencorev1beta1.Condition
	for _, kind := range []gardencorev1beta1.ConditionType{
		gardencorev1beta1.ConditionTypeInstalled, gardencorev1beta1.ConditionTypeHealthy, gardencorev1beta1.ConditionTypeProgressing,
	} {
		conditions = append(conditions, condition(kind, gardencorev1beta1.ConditionUnknown, gardencorev1beta1.ReasonSeedReadError,
			"The extension cannot be checked: "+err.Error()))
	}
	return conditions
}

func condition(kind gardencorev1beta1.ConditionType, status gardencorev1beta1.ConditionStatus, reason, message string) gardencorev1beta1.Condition {
	return gardencorev1beta1.Condition{Type: kind, Status: status, Reason: reason, Message: message}
}
