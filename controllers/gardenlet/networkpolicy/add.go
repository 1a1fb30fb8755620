// SPDX-License-Identifier: Apache-2.0

package networkpolicy

import (
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
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
	gardenoperatorv1alpha1 "github.com/terrarium-garden/terrarium/apis/operator/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/reach"
)

const (
	controllerName = "networkpolicy"
	fieldOwner     = "gardenlet"
)

var _ kit.Adder = (*Reconciler)(nil)

// Reconciler keeps the general network policies of a seed.
type Reconciler struct {
	kit.SeedBase

	// Config is the section of the configuration.
	Config *gardenconfigv1alpha1.NetworkPolicyControllerConfiguration
	// Namespaces are those in which traffic is denied; none if somebody else keeps the policies.
	Namespaces reach.Namespaces

	// cached reads namespaces from the cache.
	cached client.Reader
}

// Namespaces are the namespaces of a seed in which the gardenlet denies traffic. There are none in the cluster that a garden itself runs
// in, because the operator of the garden does it there (GLET-NP-4).
func Namespaces(ctx context.Context, seed client.Reader, config *gardenconfigv1alpha1.NetworkPolicyControllerConfiguration) (reach.Namespaces, error) {
	gardens := &metav1.PartialObjectMetadataList{}
	gardens.SetGroupVersionKind(gardenoperatorv1alpha1.GroupVersion.WithKind("GardenList"))
	err := seed.List(ctx, gardens, client.Limit(1))
	if err != nil && !meta.IsNoMatchError(err) && !apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("look whether the seed runs a garden: %w", err)
	}
	if err == nil && len(gardens.Items) > 0 {
		return nil, nil
	}
	return reach.SeedNamespaces(config.AdditionalNamespaceSelectors...)
}

// AddToManager implements kit.Adder.
func (r *Reconciler) AddToManager(clusters kit.Clusters) error {
	if len(r.Namespaces) == 0 {
		return nil
	}
	seed := clusters.Seed.GetCache()
	r.cached = seed
	cluster := &metav1.PartialObjectMetadata{}
	cluster.SetGroupVersionKind(gardenextensionsv1alpha1.GroupVersion.WithKind("Cluster"))
	policy := &metav1.PartialObjectMetadata{}
	policy.SetGroupVersionKind(networkingv1.SchemeGroupVersion.WithKind("NetworkPolicy"))
	b := r.Controller(clusters, controllerName, kit.Workers(r.Config.ConcurrentSyncs)).
		Watches(&gardencorev1beta1.Seed{}, handler.EnqueueRequestsFromMapFunc(r.all), builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		WatchesRawSource(source.Kind(seed, client.Object(&corev1.Namespace{}), &handler.EnqueueRequestForObject{}, r.concerned())).
		WatchesRawSource(source.Kind(seed, client.Object(&discoveryv1.EndpointSlice{}), handler.EnqueueRequestsFromMapFunc(r.all), ofServers())).
		WatchesRawSource(source.Kind(seed, client.Object(cluster), &handler.EnqueueRequestForObject{}, predicate.GenerationChangedPredicate{})).
		WatchesRawSource(source.Kind(seed, client.Object(policy), handler.EnqueueRequestsFromMapFunc(home), predicate.GenerationChangedPredicate{}))
	return kit.Complete(b, controllerName, r)
}

// concerned lets through the namespaces in which traffic is denied, and those in which it was until now.
func (r *Reconciler) concerned() predicate.Predicate {
	have := func(object client.Object) bool { return r.Namespaces.Have(object.GetLabels()) }
	return predicate.Funcs{
		// One that has changed while the gardenlet did not run may have policies that it is not to have any more.
		CreateFunc: func(event.CreateEvent) bool { return true },
		DeleteFunc: func(event.DeleteEvent) bool { return false },
		UpdateFunc: func(e event.UpdateEvent) bool {
			return (have(e.ObjectOld) || have(e.ObjectNew)) && !maps.Equal(e.ObjectOld.GetLabels(), e.ObjectNew.GetLabels())
		},
	}
}

// Servers selects the endpoints that policies depend on, as far as labels can.
func Servers() labels.Selector {
	of, err := labels.NewRequirement(discoveryv1.LabelServiceName, selection.In, []string{apiServerService, dnsService})
	if err != nil {
		return labels.Nothing()
	}
	return labels.NewSelector().Add(*of)
}

// ofServers lets through the endpoints of the API server and of the DNS server.
func ofServers() predicate.Predicate {
	servers := []client.ObjectKey{
		{Namespace: metav1.NamespaceDefault, Name: apiServerService}, {Namespace: metav1.NamespaceSystem, Name: dnsService},
	}
	return predicate.NewPredicateFuncs(func(slice client.Object) bool {
		of := client.ObjectKey{Namespace: slice.GetNamespace(), Name: slice.GetLabels()[discoveryv1.LabelServiceName]}
		return slices.Contains(servers, of)
	})
}

// all are all namespaces in which traffic is denied. The list comes from the cache; when that fails, so does the manager.
func (r *Reconciler) all(ctx context.Context, _ client.Object) []reconcile.Request {
	list := &corev1.NamespaceList{}
	if r.cached.List(ctx, list, client.UnsafeDisableDeepCopy) != nil {
		return nil
	}
	var requests []reconcile.Request
	for i := range list.Items {
		if r.Namespaces.Have(list.Items[i].Labels) {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKey{Name: list.Items[i].Name}})
		}
	}
	return requests
}

// home is the namespace of a general policy that somebody else has changed or deleted.
func home(_ context.Context, policy client.Object) []reconcile.Request {
	if !own(policy) {
		return nil
	}
	return []reconcile.Request{{NamespacedName: client.ObjectKey{Name: policy.GetNamespace()}}}
}
