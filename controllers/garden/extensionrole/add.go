// SPDX-License-Identifier: Apache-2.0

package extensionrole

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const controllerName = "extensionrole"

var _ kit.Adder = (*Reconciler)(nil)

// Reconciler keeps the bindings.
type Reconciler struct {
	kit.Base

	// Config is the section of the configuration.
	Config gardenconfigv1alpha1.ConcurrencyConfiguration
}

// AddToManager implements kit.Adder. Service accounts are watched by their metadata (GCM-CREXT-1).
func (r *Reconciler) AddToManager(clusters kit.Clusters) error {
	b := r.Controller(clusters, controllerName, kit.Workers(r.Config.ConcurrentSyncs)).
		For(&rbacv1.ClusterRole{}, builder.WithPredicates(predicate.NewPredicateFuncs(marked))).
		Owns(&rbacv1.ClusterRoleBinding{}).
		WatchesMetadata(&corev1.ServiceAccount{}, handler.EnqueueRequestsFromMapFunc(r.rolesFor), builder.WithPredicates(predicate.NewPredicateFuncs(eligible)))
	return kit.Complete(b, controllerName, r)
}

func marked(role client.Object) bool {
	return role.GetLabels()[gardencorev1beta1.LabelCustomExtensionsPermissions] == labelled
}

func eligible(account client.Object) bool {
	return Eligible(account.GetNamespace())
}

// rolesFor is GCM-CREXT-3. A role whose selector cannot be read tells so when it is reconciled itself.
func (r *Reconciler) rolesFor(ctx context.Context, account client.Object) []reconcile.Request {
	roles := &rbacv1.ClusterRoleList{}
	if err := r.Client.List(ctx, roles, client.MatchingLabels{gardencorev1beta1.LabelCustomExtensionsPermissions: labelled}, client.UnsafeDisableDeepCopy); err != nil {
		return nil
	}
	var requests []reconcile.Request
	for i := range roles.Items {
		selector, err := SelectorOf(&roles.Items[i])
		if err == nil && selector.Matches(labels.Set(account.GetLabels())) {
			requests = append(requests, reconcile.Request{NamespacedName: types.NamespacedName{Name: roles.Items[i].Name}})
		}
	}
	return requests
}
