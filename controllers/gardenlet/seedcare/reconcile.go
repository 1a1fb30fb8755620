// SPDX-License-Identifier: Apache-2.0

// Package seedcare checks what the gardenlet deployed for its seed as a whole and reports it as condition
// SeedSystemComponentsHealthy. That is the resource manager, the custom resource definitions of the extension contract, and what
// extensions do for the seed.
package seedcare

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/deploy"
	"github.com/terrarium-garden/terrarium/controllers/extension/crds"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/heartbeat"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/managedresources"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/seed"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/stalepods"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/operation"
)

const controllerName = "seed-care"

var _ kit.Adder = (*Reconciler)(nil)

// Reconciler checks the components of one seed.
type Reconciler struct {
	kit.SeedBase

	// Config is the section of the configuration.
	Config *gardenconfigv1alpha1.SeedCareControllerConfiguration
	// StaleExtensionHealthChecks says how old the report of an extension may be. It is that for shoots.
	StaleExtensionHealthChecks *gardenconfigv1alpha1.StaleExtensionHealthChecks

	heartbeats heartbeat.Monitor
	// collected is when stale pods were last looked for. There is one worker only.
	collected time.Time
}

// collectPeriod is the time between two looks for stale pods, because all pods of the seed have to be listed for one.
const collectPeriod = 5 * time.Minute

// AddToManager implements kit.Adder.
func (r *Reconciler) AddToManager(clusters kit.Clusters) error {
	b := r.Controller(clusters, controllerName, kit.Queue{Concurrency: 1, MaxDelay: r.Config.SyncPeriod.Duration}).
		For(&gardencorev1beta1.Seed{}, builder.WithPredicates(r.own()))
	return kit.Complete(b, controllerName, r)
}

// own starts a check of the own seed when it appears, when its reconciliation has succeeded, and when operations on its shoots are
// stopped or released. Further checks are periodic, and sooner after something has turned bad.
func (r *Reconciler) own() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc: func(e event.CreateEvent) bool { return e.Object.GetName() == r.SeedName },
		UpdateFunc: func(e event.UpdateEvent) bool {
			return e.ObjectNew.GetName() == r.SeedName && (succeeded(e.ObjectNew) && !succeeded(e.ObjectOld) || stopped(e.ObjectNew) != stopped(e.ObjectOld))
		},
		DeleteFunc: func(event.DeleteEvent) bool { return false },
	}
}

func stopped(object client.Object) bool {
	seed, ok := object.(*gardencorev1beta1.Seed)
	return ok && query.EmergencyStopped(seed)
}

func succeeded(object client.Object) bool {
	seed, ok := object.(*gardencorev1beta1.Seed)
	return ok && operation.Succeeded(seed.Status.LastOperation)
}

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
	found := r.check(ctx, object)
	r.collect(ctx)
	commit := kit.Begin(r.GardenClient, object)
	found.Status = kit.DampAfter(query.FindCondition(object.Status.Conditions, found.Type), found, kit.Delay{
		Threshold: kit.Threshold(r.Config.ConditionThresholds, found.Type), Now: r.Clock.Now(), Last: object.Status.LastOperation,
	})
	object.Status.Conditions = kit.SetCondition(object.Status.Conditions, found, r.Clock.Now())
	object.Status.Conditions = emergencyStop(object, r.Clock.Now())
	next := kit.NextCheck(object.Status.Conditions, r.Clock.Now(), r.Config.SyncPeriod.Duration)
	return commit.Status(ctx, kit.RequeueAfter(next), nil)
}

// collect deletes stale pods in all namespaces of the seed but kube-system, which others look after (GLET-SEEDCARE-5). What cannot be
// deleted now is tried again with the next check.
func (r *Reconciler) collect(ctx context.Context) {
	if r.Clock.Since(r.collected) < collectPeriod {
		return
	}
	r.collected = r.Clock.Now()
	spare := func(namespace string) bool { return namespace == metav1.NamespaceSystem }
	deleted, err := stalepods.Collector{Client: r.SeedClient, Now: r.Clock.Now(), Spare: spare}.Collect(ctx)
	if err != nil && ctx.Err() == nil {
		ctrl.LoggerFrom(ctx).Error(err, "Stale pods of the seed could not be deleted")
	}
	if deleted > 0 {
		ctrl.LoggerFrom(ctx).Info("Stale pods of the seed deleted", "pods", deleted)
	}
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

// check looks at every component. If it cannot be made, the condition says so.
func (r *Reconciler) check(ctx context.Context, object *gardencorev1beta1.Seed) gardencorev1beta1.Condition {
	definitions, err := crds.Objects()
	if err != nil {
		return unknown(err)
	}
	if reason, message, err := r.checkResourceManager(ctx); err != nil {
		return unknown(err)
	} else if message != "" {
		return healthy(gardencorev1beta1.ConditionFalse, reason, message)
	}
	if reason, message, err := r.checkManagedResources(ctx); err != nil {
		return unknown(err)
	} else if reason != "" {
		return healthy(gardencorev1beta1.ConditionFalse, reason, message)
	}
	var absent, bad []string
	for _, definition := range definitions {
		name := definition.GetName()
		err := r.SeedClient.Get(ctx, client.ObjectKeyFromObject(definition), definition)
		if apierrors.IsNotFound(err) {
			absent = append(absent, name)
			continue
		}
		if err != nil {
			return unknown(err)
		}
		if ready, reason := deploy.Ready(definition); !ready {
			bad = append(bad, name+": "+reason)
		}
	}
	if c := Judge(absent, bad); c.Status != gardencorev1beta1.ConditionTrue {
		return c
	}
	c, err := r.checkExtensions(ctx, object)
	if err != nil {
		return unknown(err)
	}
	if c.Status == "" {
		return Judge(nil, nil)
	}
	return c
}

// checkManagedResources says what is wrong with the managed resources of the seed itself (GLET-SEEDCARE-1, 3).
func (r *Reconciler) checkManagedResources(ctx context.Context) (reason, message string, err error) {
	list := &gardenresourcesv1alpha1.ManagedResourceList{}
	err = r.SeedClient.List(ctx, list, client.InNamespace(gardencorev1beta1.NamespaceGarden))
	if meta.IsNoMatchError(err) || apierrors.IsNotFound(err) {
		return "", "", nil // The definitions are checked in another way.
	}
	if err != nil {
		return "", "", fmt.Errorf("list managed resources of the seed: %w", err)
	}
	// One without a class is not for the seed: it is for the cluster that belongs to the namespace, such as a garden that runs in the seed.
	ofSeed := slices.DeleteFunc(list.Items, func(mr gardenresourcesv1alpha1.ManagedResource) bool { return ptr.Deref(mr.Spec.Class, "") == "" })
	reason, message = managedresources.Judge(ofSeed, managedresources.Patience{Now: r.Clock.Now()})
	return reason, message, nil
}

// checkResourceManager says what is wrong with the resource manager, if the gardenlet has deployed one.
func (r *Reconciler) checkResourceManager(ctx context.Context) (reason, message string, err error) {
	members, err := seed.Engine(r.SeedClient, r.Clock).SetMembers(ctx, seed.ResourceManagerSet())
	if err != nil {
		return "", "", err
	}
	for _, member := range members {
		kind := member.GetObjectKind().GroupVersionKind().Kind
		err := r.SeedClient.Get(ctx, client.ObjectKeyFromObject(member), member)
		switch {
		case apierrors.IsNotFound(err):
			return kind + "Missing", kind + " " + member.GetName() + " of the resource manager does not exist", nil
		case err != nil:
			return "", "", err
		}
		if ok, cause := deploy.Healthy(member); !ok {
			return kind + "Unhealthy", kind + " " + member.GetName() + " of the resource manager is not healthy: " + cause, nil
		}
	}
	return "", "", nil
}

// Judge makes the condition of the definitions that are missing, and of those that exist and are not served, each with a reason.
func Judge(missing, bad []string) gardencorev1beta1.Condition {
	switch {
	case len(missing) > 0:
		return healthy(gardencorev1beta1.ConditionFalse, reasonDefinitionMissing, "Custom resource definitions are missing: "+strings.Join(missing, ", "))
	case len(bad) > 0:
		return healthy(gardencorev1beta1.ConditionFalse, reasonDefinitionNotReady, "Custom resource definitions are not served: "+strings.Join(bad, "; "))
	default:
		return healthy(gardencorev1beta1.ConditionTrue, gardencorev1beta1.ReasonSystemComponentsRunning, "All system components of the seed are healthy")
	}
}

func unknown(err error) gardencorev1beta1.Condition {
	return healthy(gardencorev1beta1.ConditionUnknown, gardencorev1beta1.ReasonConditionCheckError,
		"The system components of the seed could not be checked: "+err.Error())
}

func healthy(status gardencorev1beta1.ConditionStatus, reason, message string) gardencorev1beta1.Condition {
	return gardencorev1beta1.Condition{Type: gardencorev1beta1.ConditionTypeSeedSystemComponentsHealthy, Status: status, Reason: reason, Message: message}
}
