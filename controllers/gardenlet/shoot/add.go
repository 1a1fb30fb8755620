// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/unserved"
	"github.com/terrarium-garden/terrarium/controllers/component/images"
	"github.com/terrarium-garden/terrarium/controllers/component/vertical"
	"github.com/terrarium-garden/terrarium/controllers/flowmetrics"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	lastoperation "github.com/terrarium-garden/terrarium/controllers/operation"
)

const (
	controllerName = "shoot"
	// fieldOwner owns what the gardenlet applies, and the secrets that it generates.
	fieldOwner = "gardenlet"

	retryBaseDelay = 5 * time.Second
	retryMaxDelay  = 5 * time.Minute
)

var _ kit.Adder = (*Reconciler)(nil)

// Reconciler creates, reconciles and deletes the shoots of a seed.
type Reconciler struct {
	kit.SeedBase

	// Identity is the identity of the gardenlet. It is required.
	Identity gardencorev1beta1.Gardener
	// Images finds the images of components. It is required.
	Images *images.Vector
	// Config is the section of the configuration.
	Config *gardenconfigv1alpha1.ShootControllerConfiguration
	// ExposureHandlers are the handlers of exposure classes that this gardenlet knows.
	ExposureHandlers []gardenconfigv1alpha1.ExposureClassHandler
	// IdentityTokenValidity is how long tokens of workload identities are to be valid. It is required.
	IdentityTokenValidity time.Duration
	// Journal is told what happens to shoots; it may be nil.
	Journal lastoperation.Journal
	// Flows records the durations of operations; it may be nil.
	Flows *flowmetrics.Recorder

	// verticalAutoscaling is set if the seed had the kind of autoscalers of pods when the gardenlet started, as package evictions needs it.
	verticalAutoscaling bool
	passes              passes
}

// AddToManager implements kit.Adder.
func (r *Reconciler) AddToManager(clusters kit.Clusters) error {
	var err error
	if r.verticalAutoscaling, err = vertical.Served(clusters.Seed.GetRESTMapper()); err != nil {
		return fmt.Errorf("find out whether the seed has autoscalers of pods: %w", err)
	}
	queue := kit.Queue{Concurrency: *r.Config.ConcurrentSyncs, BaseDelay: retryBaseDelay, MaxDelay: retryMaxDelay}
	b := r.Controller(clusters, controllerName, queue).
		For(&gardencorev1beta1.Shoot{}, builder.WithPredicates(r.concerned())).
		Watches(&gardencorev1beta1.Shoot{}, r.leaving()).
		Watches(&gardencorev1beta1.Seed{}, handler.EnqueueRequestsFromMapFunc(r.waitingShoots), builder.WithPredicates(r.becomesReady()))
	return kit.Complete(b, controllerName, r)
}

// concerned admits what may need a pass: a shoot of this seed that appears, changes its generation, is bound to this seed, or is
// being deleted. Changes of the status alone never do; the controller writes most of them itself.
func (r *Reconciler) concerned() predicate.Predicate {
	mine := func(object client.Object) bool {
		shoot, ok := object.(*gardencorev1beta1.Shoot)
		return ok && Responsible(shoot) == r.SeedName
	}
	return predicate.Funcs{
		CreateFunc: func(e event.CreateEvent) bool { return mine(e.Object) },
		UpdateFunc: func(e event.UpdateEvent) bool {
			if !mine(e.ObjectNew) {
				return false
			}
			deletionBegins := e.ObjectOld.GetDeletionTimestamp() == nil && e.ObjectNew.GetDeletionTimestamp() != nil
			changed := func(annotation string) bool {
				return e.ObjectOld.GetAnnotations()[annotation] != e.ObjectNew.GetAnnotations()[annotation]
			}
			annotated := changed(gardencorev1beta1.AnnotationShootIgnore) || changed(gardencorev1beta1.AnnotationOperation) &&
				len(unserved.Operations(e.ObjectNew.GetAnnotations()[gardencorev1beta1.AnnotationOperation])) > 0
			return e.ObjectOld.GetGeneration() != e.ObjectNew.GetGeneration() || !mine(e.ObjectOld) || deletionBegins || annotated
		},
		DeleteFunc: func(event.DeleteEvent) bool { return false },
	}
}

// becomesReady admits the update with which the seed becomes ready for operations on its shoots.
func (r *Reconciler) becomesReady() predicate.Predicate {
	ready := func(object client.Object) bool {
		seed, ok := object.(*gardencorev1beta1.Seed)
		return ok && seed.Name == r.SeedName && CheckSeed(seed, r.Identity) == nil
	}
	return predicate.Funcs{
		CreateFunc: func(event.CreateEvent) bool { return false },
		UpdateFunc: func(e event.UpdateEvent) bool { return ready(e.ObjectNew) && !ready(e.ObjectOld) },
		DeleteFunc: func(event.DeleteEvent) bool { return false },
	}
}

// waitingShoots returns the shoots whose last operation did not succeed, such as those that wait for the seed.
func (r *Reconciler) waitingShoots(ctx context.Context, _ client.Object) []reconcile.Request {
	shoots := &gardencorev1beta1.ShootList{}
	if err := r.GardenClient.List(ctx, shoots); err != nil {
		return nil // each of them comes back by itself
	}
	var requests []reconcile.Request
	for i := range shoots.Items {
		s := &shoots.Items[i]
		if Responsible(s) == r.SeedName && !lastoperation.Succeeded(s.Status.LastOperation) {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(s)})
		}
	}
	return requests
}

func (r *Reconciler) settings() Settings {
	return Settings{
		SeedName: r.SeedName, Version: r.Identity.Version,
		InMaintenanceOnly: *r.Config.ReconcileInMaintenanceOnly,
		SyncPeriod:        r.Config.SyncPeriod.Duration, RespectOverwrites: *r.Config.RespectSyncPeriodOverwrite,
	}
}
