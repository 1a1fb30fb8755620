// SPDX-License-Identifier: Apache-2.0

package extensionrole

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const controllerName = "extensionrole"

var _ kit.Adder = (*Reconciler)(nil)

// Reconciler keeps the bindings. Unset fields are filled by AddToManager.
type Reconciler struct {
	// Client reaches the garden through the cache.
	Client client.Client
	// Queue bounds the work.
	Queue kit.Queue
}

// AddToManager implements kit.Adder. Service accounts are watched by their metadata (GCM-CREXT-1).
func (r *Reconciler) AddToManager(mgr manager.Manager) error {
	if r.Client == nil {
		r.Client = mgr.GetClient()
	}
	err := builder.ControllerManagedBy(mgr).
		Named(controllerName).
		For(&rbacv1.ClusterRole{}, builder.WithPredicates(predicate.NewPredicateFuncs(marked))).
		Owns(&rbacv1.ClusterRoleBinding{}).
		WatchesMetadata(&corev1.ServiceAccount{}, handler.EnqueueRequestsFromMapFunc(r.rolesFor), builder.WithPredicates(predicate.NewPredicateFuncs(eligible))).
		WithOptions(r.Queue.Options()).
		Complete(r)
	if err != nil {
		return fmt.Errorf("add controller %q: %w", controllerName, err)
	}
	return nil
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
