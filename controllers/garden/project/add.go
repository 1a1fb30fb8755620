// SPDX-License-Identifier: Apache-2.0

package project

import (
	"context"
	"maps"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const controllerName = "project"

var _ kit.Adder = (*Reconciler)(nil)

// Reconciler keeps projects. It asks around the cache whether a project is empty before its namespace goes.
type Reconciler struct {
	kit.Base

	// Config is the section of the configuration.
	Config gardenconfigv1alpha1.ServerProjectControllerConfiguration
}

// AddToManager implements kit.Adder. Everything made for a project is owned by it, so each edit of it comes back here
// (GCM-PROJECT-13); deleted Shoots let a project in deletion go on (GCM-PROJECT-10).
func (r *Reconciler) AddToManager(clusters kit.Clusters) error {
	b := r.Controller(clusters, controllerName, kit.Workers(r.Config.ConcurrentSyncs)).
		For(&gardencorev1beta1.Project{}).
		Owns(&corev1.Namespace{}).
		Owns(&corev1.ResourceQuota{}, builder.WithPredicates(quotaEdits())).
		Owns(&rbacv1.ClusterRole{}).
		Owns(&rbacv1.ClusterRoleBinding{}).
		Owns(&rbacv1.RoleBinding{}).
		Watches(&gardencorev1beta1.Shoot{}, handler.EnqueueRequestsFromMapFunc(r.emptied), builder.WithPredicates(deletions()))
	return kit.Complete(b, controllerName, r)
}

// quotaEdits leaves out what the quota controller counts in the status. Quotas have no generation to tell them apart.
func quotaEdits() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, ok := e.ObjectOld.(*corev1.ResourceQuota)
		if !ok {
			return true
		}
		after, ok := e.ObjectNew.(*corev1.ResourceQuota)
		return !ok || !equality.Semantic.DeepEqual(before.Spec, after.Spec) || !maps.Equal(before.Labels, after.Labels) ||
			!equality.Semantic.DeepEqual(before.OwnerReferences, after.OwnerReferences)
	}}
}

func deletions() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc:  func(event.CreateEvent) bool { return false },
		UpdateFunc:  func(event.UpdateEvent) bool { return false },
		GenericFunc: func(event.GenericEvent) bool { return false },
	}
}

// emptied maps a deleted Shoot to the project in deletion that waits for it. A failed list loses nothing for good: the
// project also comes back by itself.
func (r *Reconciler) emptied(ctx context.Context, shoot client.Object) []reconcile.Request {
	projects := &gardencorev1beta1.ProjectList{}
	if err := r.Client.List(ctx, projects, client.UnsafeDisableDeepCopy); err != nil {
		return nil
	}
	var requests []reconcile.Request
	for i := range projects.Items {
		project := &projects.Items[i]
		if project.DeletionTimestamp != nil && project.Spec.Namespace != nil && *project.Spec.Namespace == shoot.GetNamespace() {
			requests = append(requests, reconcile.Request{NamespacedName: types.NamespacedName{Name: project.Name}})
		}
	}
	return requests
}
