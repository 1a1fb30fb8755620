// SPDX-License-Identifier: Apache-2.0

package required

import (
	"context"
	"fmt"

	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/controllerinstallation"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const controllerName = "controllerinstallation-required"

// Reconciler finds out which extensions of one seed are in use. Unset fields are filled by AddToManager.
type Reconciler struct {
	// GardenClient reaches the garden; it reads ControllerInstallations from the cache.
	GardenClient client.Client
	// SeedReader reads extension objects of the seed from a cache.
	SeedReader client.Reader
	// Clock tells the time.
	Clock clock.PassiveClock
	// SeedName is the name of the seed. It is required.
	SeedName string
	// Queue bounds the work; one at a time unless it says otherwise.
	Queue kit.Queue
}

// AddToManager registers the controller with the manager of the garden. The definitions of all extension kinds must be
// in the seed.
func (r *Reconciler) AddToManager(mgr manager.Manager, seed cluster.Cluster) error {
	if r.GardenClient == nil {
		r.GardenClient = mgr.GetClient()
	}
	if r.SeedReader == nil {
		r.SeedReader = seed.GetCache()
	}
	if r.Clock == nil {
		r.Clock = clock.RealClock{}
	}
	if r.Queue.Concurrency == 0 {
		r.Queue.Concurrency = 1
	}
	controller := builder.ControllerManagedBy(mgr).
		Named(controllerName).
		For(&gardencorev1beta1.ControllerInstallation{}, builder.WithPredicates(
			controllerinstallation.Of(r.SeedName), predicate.Or(predicate.GenerationChangedPredicate{}, predicate.LabelChangedPredicate{}),
		)).
		WithOptions(r.Queue.Options())
	for _, kind := range watched() {
		controller.WatchesRawSource(source.Kind(seed.GetCache(), client.Object(kind.New()),
			handler.TypedEnqueueRequestsFromMapFunc(r.responsible(kind.Name)), appearances()))
	}
	if err := controller.Complete(r); err != nil {
		return fmt.Errorf("add controller %q: %w", controllerName, err)
	}
	return nil
}

// responsible maps an extension object to the installations that are registered for its kind and type.
func (r *Reconciler) responsible(kind string) handler.TypedMapFunc[client.Object, reconcile.Request] {
	return func(ctx context.Context, object client.Object) []reconcile.Request {
		extension, ok := object.(gardenextensionsv1alpha1.Object)
		if !ok {
			return nil
		}
		installations := &gardencorev1beta1.ControllerInstallationList{}
		if err := r.GardenClient.List(ctx, installations); err != nil {
			return nil
		}
		var requests []reconcile.Request
		for i := range installations.Items {
			installation := &installations.Items[i]
			registration := &gardencorev1beta1.ControllerRegistration{}
			key := client.ObjectKey{Name: installation.Spec.RegistrationRef.Name}
			// An installation whose registration cannot be read is looked at rather than forgotten.
			err := r.GardenClient.Get(ctx, key, registration)
			if err != nil || offers(registration, kind, extension.GetExtensionSpec().Type) {
				requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(installation)})
			}
		}
		return requests
	}
}

// appearances lets pass what can change whether an extension is in use.
func appearances() predicate.TypedPredicate[client.Object] {
	return predicate.TypedFuncs[client.Object]{
		UpdateFunc: func(e event.TypedUpdateEvent[client.Object]) bool {
			before, ok := e.ObjectOld.(gardenextensionsv1alpha1.Object)
			if !ok {
				return true
			}
			after, ok := e.ObjectNew.(gardenextensionsv1alpha1.Object)
			return !ok || before.GetExtensionSpec().Type != after.GetExtensionSpec().Type
		},
		GenericFunc: func(event.TypedGenericEvent[client.Object]) bool { return false },
	}
}
