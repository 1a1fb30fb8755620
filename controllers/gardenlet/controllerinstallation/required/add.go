// SPDX-License-Identifier: Apache-2.0

package required

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/controllerinstallation"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const controllerName = "controllerinstallation-required"

var _ kit.Adder = (*Reconciler)(nil)

// Reconciler finds out which extensions of one seed are in use.
type Reconciler struct {
	kit.SeedBase

	// SeedReader reads extension objects of the seed from its cache.
	SeedReader client.Reader
	// Config is the section of the configuration.
	Config *gardenconfigv1alpha1.ControllerInstallationRequiredControllerConfiguration
}

// AddToManager implements kit.Adder. The definitions of all extension kinds must be
// in the seed.
func (r *Reconciler) AddToManager(clusters kit.Clusters) error {
	r.SeedReader = clusters.Seed.GetCache()
	b := r.Controller(clusters, controllerName, kit.Queue{Concurrency: max(1, *r.Config.ConcurrentSyncs)})
	b.For(&gardencorev1beta1.ControllerInstallation{}, builder.WithPredicates(
		controllerinstallation.Of(r.SeedName), predicate.Or(predicate.GenerationChangedPredicate{}, predicate.LabelChangedPredicate{}),
	))
	for _, kind := range watched() {
		b.WatchesRawSource(source.Kind(clusters.Seed.GetCache(), client.Object(kind.New()),
			handler.TypedEnqueueRequestsFromMapFunc(r.responsible(kind.Name)), appearances()))
	}
	return kit.Complete(b, controllerName, r)
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
