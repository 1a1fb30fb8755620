// SPDX-License-Identifier: Apache-2.0

package bastion

import (
	"context"
	"time"

	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	gardenoperationsv1alpha1 "github.com/terrarium-garden/terrarium/apis/operations/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const controllerName = "bastion"

var _ kit.Adder = (*Reconciler)(nil)

// Reconciler has the hosts of Bastions made.
type Reconciler struct {
	kit.SeedBase

	// Config is the section of the configuration.
	Config *gardenconfigv1alpha1.BastionControllerConfiguration
}

// AddToManager implements kit.Adder. Heartbeats change only the status and the annotations, so they start no pass; what extensions
// report does, and so does a shoot whose machines can be reached from now on or no more (GLET-BASTION-5): a Bastion that is made just when
// access is enabled again may have been looked at with the shoot as it was before.
func (r *Reconciler) AddToManager(clusters kit.Clusters) error {
	queue := kit.Workers(r.Config.ConcurrentSyncs)
	queue.BaseDelay, queue.MaxDelay = time.Second, time.Minute
	b := r.Controller(clusters, controllerName, queue).
		For(&gardenoperationsv1alpha1.Bastion{}, builder.WithPredicates(kit.Matching(r.own), predicate.Or(predicate.GenerationChangedPredicate{}, deletion())))
	b.Watches(&gardencorev1beta1.Shoot{}, kit.EnqueueMatching(r.GardenClient, &gardenoperationsv1alpha1.BastionList{}, r.leadsTo), builder.WithPredicates(reached()))
	b.WatchesRawSource(source.Kind(clusters.Seed.GetCache(), &gardenextensionsv1alpha1.Bastion{},
		handler.TypedEnqueueRequestsFromMapFunc(r.ofHost)))
	return kit.Complete(b, controllerName, r)
}

func (r *Reconciler) own(b *gardenoperationsv1alpha1.Bastion) bool {
	return ptr.Deref(b.Spec.SeedName, "") == r.SeedName
}

// deletion admits the update with which a deletion begins.
func deletion() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc: func(event.CreateEvent) bool { return true },
		UpdateFunc: func(e event.UpdateEvent) bool {
			return e.ObjectOld.GetDeletionTimestamp() == nil && e.ObjectNew.GetDeletionTimestamp() != nil
		},
	}
}

// leadsTo reports whether an own Bastion is for a shoot.
func (r *Reconciler) leadsTo(shoot client.Object, b *gardenoperationsv1alpha1.Bastion) bool {
	return r.own(b) && b.Namespace == shoot.GetNamespace() && b.Spec.ShootRef.Name == shoot.GetName()
}

// reached admits the updates after which other shoots have machines that can be reached.
func reached() predicate.Predicate {
	changes := kit.Changed(func(shoot *gardencorev1beta1.Shoot) any { return query.SSHAllowed(&shoot.Spec) })
	changes.CreateFunc = func(event.CreateEvent) bool { return false }
	changes.DeleteFunc = func(event.DeleteEvent) bool { return false }
	return changes
}

// ofHost maps an object in the seed to the Bastions of its name. There may be one in each project; those of other shoots have nothing to do.
func (r *Reconciler) ofHost(ctx context.Context, host *gardenextensionsv1alpha1.Bastion) []reconcile.Request {
	list := &gardenoperationsv1alpha1.BastionList{}
	if err := r.GardenClient.List(ctx, list); err != nil {
		return nil
	}
	var requests []reconcile.Request
	for i := range list.Items {
		if list.Items[i].Name == host.Name {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
		}
	}
	return requests
}
