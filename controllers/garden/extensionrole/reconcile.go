// SPDX-License-Identifier: Apache-2.0

package extensionrole

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// Reconcile keeps the binding of one role.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	role := &rbacv1.ClusterRole{}
	if err := r.Client.Get(ctx, request.NamespacedName, role); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if role.DeletionTimestamp != nil || !marked(role) {
		return reconcile.Result{}, nil
	}
	selector, err := SelectorOf(role)
	if err != nil {
		return kit.Result(kit.Stop(), kit.UserMustFix("InvalidSelector", err))
	}
	accounts := &metav1.PartialObjectMetadataList{}
	accounts.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ServiceAccountList"))
	if err := r.Client.List(ctx, accounts, client.MatchingLabelsSelector{Selector: selector}); err != nil {
		return reconcile.Result{}, fmt.Errorf("list service accounts of cluster role %q: %w", role.Name, err)
	}

	binding := &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: role.Name}}
	_, err = kit.Ensure(ctx, r.Client, binding, func() error {
		binding.RoleRef = rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name}
		binding.Subjects = Subjects(accounts.Items)
		return controllerutil.SetControllerReference(role, binding, r.Client.Scheme())
	})
	return kit.Result(kit.Stop(), err)
}
