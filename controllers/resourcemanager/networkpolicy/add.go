// SPDX-License-Identifier: Apache-2.0

package networkpolicy

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/reach"
)

const (
	controllerName = "networkpolicy"
	fieldOwner     = "gardener-resource-manager"
)

// Reconciler makes the network policies of Services.
type Reconciler struct {
	kit.Base

	// Seed reaches the cluster without a cache.
	Seed client.Client
	// Namespaces are those in which traffic is denied. Services elsewhere get no policies.
	Namespaces reach.Namespaces
	// Ingress are the pods of the ingress controller; the zero value stands for none.
	Ingress Controller

	// istio is set if the cluster knows VirtualServices.
	istio bool
}

// AddToManager adds the controller to the manager of a seed.
func (r *Reconciler) AddToManager(seed manager.Manager) error {
	b := r.ManagedBy(seed, controllerName, kit.Queue{}).
		For(&corev1.Service{}).
		Watches(&networkingv1.NetworkPolicy{}, handler.EnqueueRequestsFromMapFunc(owner), builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&corev1.Pod{}, handler.EnqueueRequestsFromMapFunc(r.wantedBy), builder.OnlyMetadata, builder.WithPredicates(asking())).
		Watches(&corev1.Namespace{}, handler.EnqueueRequestsFromMapFunc(r.within), builder.OnlyMetadata, builder.WithPredicates(relabelled()))
	if r.Ingress.exists() {
		b.Watches(&networkingv1.Ingress{}, handler.EnqueueRequestsFromMapFunc(led))
		_, err := seed.GetRESTMapper().RESTMapping(VirtualServiceKind().GroupKind(), VirtualServiceKind().Version)
		if err != nil && !meta.IsNoMatchError(err) {
			return fmt.Errorf("look for VirtualServices: %w", err)
		}
		if r.istio = err == nil; r.istio {
			routes := &unstructured.Unstructured{}
			routes.SetGroupVersionKind(VirtualServiceKind())
			b.Watches(routes, handler.EnqueueRequestsFromMapFunc(led))
		}
	}
	return kit.Complete(b, controllerName, r)
}

// Made selects the policies that were made for Services.
func Made() labels.Selector {
	made, err := labels.NewRequirement(gardenresourcesv1alpha1.LabelNetworkPolicyServiceName, selection.Exists, nil)
	if err != nil {
		return labels.Nothing()
	}
	return labels.NewSelector().Add(*made)
}

// owner is the Service that a policy was made for. It may be gone.
func owner(_ context.Context, policy client.Object) []reconcile.Request {
	name := policy.GetLabels()[gardenresourcesv1alpha1.LabelNetworkPolicyServiceName]
	namespace := policy.GetLabels()[gardenresourcesv1alpha1.LabelNetworkPolicyServiceNamespace]
	if name == "" || namespace == "" {
		return nil
	}
	return []reconcile.Request{{NamespacedName: client.ObjectKey{Namespace: namespace, Name: name}}}
}

// led are the Services that an Ingress or a VirtualService leads to.
func led(_ context.Context, route client.Object) []reconcile.Request {
	var requests []reconcile.Request
	for _, backend := range backendsOf(route) {
		requests = append(requests, reconcile.Request{NamespacedName: backend.service})
	}
	return requests
}

// within are the Services of a namespace, and those that others are open to: one that comes or changes may be among these, and may be
// one in which traffic is denied from now on.
func (r *Reconciler) within(ctx context.Context, namespace client.Object) []reconcile.Request {
	return r.services(ctx, func(w Wish) bool { return w.Service.Namespace == namespace.GetName() || len(w.Elsewhere) > 0 })
}

// wantedBy are the Services that a pod has a label for.
func (r *Reconciler) wantedBy(ctx context.Context, pod client.Object) []reconcile.Request {
	return r.services(ctx, func(w Wish) bool {
		var elsewhere []string
		if pod.GetNamespace() != w.Service.Namespace {
			elsewhere = []string{pod.GetNamespace()}
		}
		if len(elsewhere) > 0 && len(w.Elsewhere) == 0 {
			return false
		}
		return slices.ContainsFunc(w.ways(elsewhere), func(way way) bool {
			_, has := pod.GetLabels()[way.key]
			return has && way.from == pod.GetNamespace()
		})
	})
}

// services are those that match, with what could be read of them. The list comes from the cache; when that fails, so does the manager.
func (r *Reconciler) services(ctx context.Context, matches func(Wish) bool) []reconcile.Request {
	list := &corev1.ServiceList{}
	if r.Client.List(ctx, list, client.UnsafeDisableDeepCopy) != nil {
		return nil
	}
	var requests []reconcile.Request
	for i := range list.Items {
		// A wish that cannot be read leads to a run too, if a part of it matches; that run grants nothing, and tells of it.
		if wish, _ := Read(&list.Items[i]); matches(wish) {
			requests = append(requests, reconcile.Request{NamespacedName: wish.Service})
		}
	}
	return requests
}

// asking lets through the pods that have labels for Services. Of an update, these labels have to change.
func asking() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc: func(e event.CreateEvent) bool { return len(asks(e.Object)) > 0 },
		DeleteFunc: func(e event.DeleteEvent) bool { return len(asks(e.Object)) > 0 },
		UpdateFunc: func(e event.UpdateEvent) bool { return !maps.Equal(asks(e.ObjectOld), asks(e.ObjectNew)) },
	}
}

// asks are the labels of a pod that are about Services.
func asks(pod client.Object) map[string]string {
	found := map[string]string{}
	for key, value := range pod.GetLabels() {
		if strings.HasPrefix(key, gardenresourcesv1alpha1.LabelPrefixNetworkPolicyTo) {
			found[key] = value
		}
	}
	return found
}

// relabelled lets through namespaces that come, go, begin to go, or get other labels.
func relabelled() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		return !maps.Equal(e.ObjectOld.GetLabels(), e.ObjectNew.GetLabels()) ||
			(e.ObjectOld.GetDeletionTimestamp() == nil) != (e.ObjectNew.GetDeletionTimestamp() == nil)
	}}
}
