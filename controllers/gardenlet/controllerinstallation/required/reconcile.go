// SPDX-License-Identifier: Apache-2.0

// Package required finds out which installed extensions are in use: as long as the seed has an extension object of a kind
// and type that an extension is registered for, the condition Required of its ControllerInstallation is True, and the
// garden keeps it installed.
//
// It decides from caches of all extension kinds, which are filled before it starts.
package required

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/extensions"
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

// AddToManager implements kit.Adder. The definitions of all extension kinds must exist in the seed.
func (r *Reconciler) AddToManager(clusters kit.Clusters) error {
	r.SeedReader = clusters.Seed.GetCache()
	b := r.Controller(clusters, controllerName, kit.Queue{Concurrency: max(1, *r.Config.ConcurrentSyncs)})
	b.For(&gardencorev1beta1.ControllerInstallation{}, builder.WithPredicates(
		controllerinstallation.Of(r.SeedName), predicate.Or(predicate.GenerationChangedPredicate{}, predicate.LabelChangedPredicate{}),
	))
	for _, kind := range extensions.KindsWhere(func(k extensions.Kind) bool { return k.OnSeeds }) {
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
			// An installation whose registration cannot be read is checked, to be safe.
			err := r.GardenClient.Get(ctx, key, registration)
			offers := func(o gardencorev1beta1.ControllerResource) bool {
				return o.Kind == kind && o.Type == extension.GetExtensionSpec().Type
			}
			if err != nil || slices.ContainsFunc(registration.Spec.Resources, offers) {
				requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(installation)})
			}
		}
		return requests
	}
}

// appearances admits the events that can change whether an extension is in use.
func appearances() predicate.TypedPredicate[client.Object] {
	return predicate.TypedFuncs[client.Object]{
		UpdateFunc: func(e event.TypedUpdateEvent[client.Object]) bool {
			before, ok := e.ObjectOld.(gardenextensionsv1alpha1.Object)
			after, okToo := e.ObjectNew.(gardenextensionsv1alpha1.Object)
			return !ok || !okToo || before.GetExtensionSpec().Type != after.GetExtensionSpec().Type
		},
	}
}

// Reconcile decides about one installation.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	installation := &gardencorev1beta1.ControllerInstallation{}
	if err := r.GardenClient.Get(ctx, request.NamespacedName, installation); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	registration := &gardencorev1beta1.ControllerRegistration{}
	name := installation.Spec.RegistrationRef.Name
	if err := r.GardenClient.Get(ctx, client.ObjectKey{Name: name}, registration); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	used, err := r.used(ctx, registration)
	if err != nil {
		return reconcile.Result{}, err
	}
	commit := kit.Begin(r.GardenClient, installation)
	installation.Status.Conditions = kit.SetCondition(installation.Status.Conditions, Judge(used), r.Clock.Now())
	return commit.Status(ctx, kit.Stop(), nil)
}

// used lists the kinds and types of the registration that the seed has objects of.
func (r *Reconciler) used(ctx context.Context, registration *gardencorev1beta1.ControllerRegistration) ([]string, error) {
	var used []string
	for _, resource := range registration.Spec.Resources {
		kind, known := extensions.Named(resource.Kind)
		if !known || !kind.OnSeeds {
			continue
		}
		list := kind.NewList()
		if err := r.SeedReader.List(ctx, list); err != nil {
			return nil, fmt.Errorf("list extension objects of kind %q: %w", resource.Kind, err)
		}
		found, err := contains(list, resource.Type)
		if err != nil {
			return nil, err
		}
		if found {
			used = append(used, resource.Kind+"/"+resource.Type)
		}
	}
	slices.Sort(used)
	return used, nil
}

func contains(list client.ObjectList, kind string) (bool, error) {
	found := false
	err := meta.EachListItem(list, func(item runtime.Object) error {
		if extension, ok := item.(gardenextensionsv1alpha1.Object); ok {
			spec := extension.GetExtensionSpec()
			found = found || spec.Type == kind && ptr.Deref(spec.Class, "") != gardenextensionsv1alpha1.ExtensionClassGarden
		}
		return nil
	})
	if err != nil {
		return false, fmt.Errorf("read %T: %w", list, err)
	}
	return found, nil
}

// Judge returns the condition for the kinds and types in use.
func Judge(used []string) gardencorev1beta1.Condition {
	if len(used) == 0 {
		return gardencorev1beta1.Condition{
			Type: gardencorev1beta1.ConditionTypeRequired, Status: gardencorev1beta1.ConditionFalse,
			Reason: gardencorev1beta1.ReasonNoExtensionObjects, Message: "The seed has no extension objects of the registered kinds and types",
		}
	}
	return gardencorev1beta1.Condition{
		Type: gardencorev1beta1.ConditionTypeRequired, Status: gardencorev1beta1.ConditionTrue,
		Reason: gardencorev1beta1.ReasonExtensionObjectsExist, Message: "The seed has extension objects: " + strings.Join(used, ", "),
	}
}
