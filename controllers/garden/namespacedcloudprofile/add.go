// SPDX-License-Identifier: Apache-2.0

package namespacedcloudprofile

import (
	"context"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const controllerName = "namespacedcloudprofile-status"

var _ kit.Adder = (*Reconciler)(nil)

// Reconciler merges profiles with their parents.
type Reconciler struct {
	kit.Base

	// Config is the section of the configuration.
	Config gardenconfigv1alpha1.ConcurrencyConfiguration
}

// AddToManager implements kit.Adder. A parent that offers something else enqueues all of its profiles.
func (r *Reconciler) AddToManager(clusters kit.Clusters) error {
	b := r.Controller(clusters, controllerName, kit.Workers(r.Config.ConcurrentSyncs)).
		For(&gardencorev1beta1.NamespacedCloudProfile{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&gardencorev1beta1.CloudProfile{}, handler.EnqueueRequestsFromMapFunc(r.children), builder.WithPredicates(predicate.Funcs{
			UpdateFunc: offersElse,
		}))
	return kit.Complete(b, controllerName, r)
}

// offersElse looks at the spec itself: profiles have no generation.
func offersElse(e event.UpdateEvent) bool {
	was, ok := e.ObjectOld.(*gardencorev1beta1.CloudProfile)
	is, same := e.ObjectNew.(*gardencorev1beta1.CloudProfile)
	return !ok || !same || !equality.Semantic.DeepEqual(was.Spec, is.Spec)
}

func (r *Reconciler) children(ctx context.Context, parent client.Object) []reconcile.Request {
	all := &gardencorev1beta1.NamespacedCloudProfileList{}
	if err := r.Client.List(ctx, all); err != nil {
		log.FromContext(ctx).Error(err, "Children of a profile not found", "cloudProfile", parent.GetName())
		return nil
	}
	var requests []reconcile.Request
	for _, p := range all.Items {
		if p.Spec.Parent.Name == parent.GetName() {
			requests = append(requests, reconcile.Request{NamespacedName: types.NamespacedName{Namespace: p.Namespace, Name: p.Name}})
		}
	}
	return requests
}
