// SPDX-License-Identifier: Apache-2.0

package project

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// recheckBinding is the time after which a binding that had to be deleted is created again.
const recheckBinding = time.Second

// errOtherRole says that a binding is for another role.
var errOtherRole = errors.New("binding of another role")

// ensureRoles gives the members their rights on the project, its namespace and the objects in it (GCM-PROJECT-7).
func (r *Reconciler) ensureRoles(ctx context.Context, s *scope) (kit.Outcome, error) {
	members := MembersOf(s.project)
	for _, grant := range ClusterGrants(s.project, members) {
		if err := r.ensureClusterRole(ctx, s, &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: grant.Name}, Rules: grant.Rules}); err != nil {
			return kit.Stop(), err
		}
		if err := r.ensureClusterRoleBinding(ctx, s, grant); err != nil {
			return kit.Stop(), err
		}
	}
	for _, grant := range NamespaceGrants(members) {
		if err := r.ensureRoleBinding(ctx, s, grant, nil); err != nil {
			return kit.Stop(), err
		}
	}
	return kit.Continue(), nil
}

// ensureExtensionRoles creates the extension roles that members of this project hold, and deletes those that no member holds any
// more (GCM-PROJECT-8). The API server aggregates their rules, all of them anew whenever one of the roles of the garden changes. So there are
// none for extensions that do not exist: everybody can own a project, and give its members roles of any names.
func (r *Reconciler) ensureExtensionRoles(ctx context.Context, s *scope) (kit.Outcome, error) {
	defined, err := r.definedRoles(ctx)
	if err != nil {
		return kit.Stop(), err
	}
	members := MembersOf(s.project)
	maps.DeleteFunc(members.Extensions, func(role string, _ []rbacv1.Subject) bool { return !defined[role] })
	labels := client.MatchingLabels{
		gardencorev1beta1.LabelRole:        gardencorev1beta1.RoleExtensionProject,
		gardencorev1beta1.LabelProjectName: s.project.Name,
	}
	wanted := map[string]bool{}
	for _, grant := range ExtensionGrants(s.project, members) {
		wanted[grant.Name] = true
		if err := r.ensureClusterRole(ctx, s, &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: grant.Name, Labels: labels}, AggregationRule: grant.Aggregation}); err != nil {
			return kit.Stop(), err
		}
		if err := r.ensureRoleBinding(ctx, s, grant, labels); err != nil {
			return kit.Stop(), err
		}
	}
	if err := r.removeOthers(ctx, &rbacv1.RoleBindingList{}, wanted, labels, client.InNamespace(s.namespace())); err != nil {
		return kit.Stop(), err
	}
	return kit.Continue(), r.removeOthers(ctx, &rbacv1.ClusterRoleList{}, wanted, labels)
}

// definedRoles are the extension roles that have rules, which ClusterRoles of extensions add to them.
func (r *Reconciler) definedRoles(ctx context.Context) (map[string]bool, error) {
	parts := &rbacv1.ClusterRoleList{}
	if err := r.Client.List(ctx, parts, client.HasLabels{gardencorev1beta1.LabelAggregateToExtensionRole}, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list the roles of extensions: %w", err)
	}
	defined := map[string]bool{}
	for i := range parts.Items {
		defined[parts.Items[i].Labels[gardencorev1beta1.LabelAggregateToExtensionRole]] = true
	}
	return defined, nil
}

// removeOthers deletes the objects of a kind that are not wanted.
func (r *Reconciler) removeOthers(ctx context.Context, list client.ObjectList, wanted map[string]bool, options ...client.ListOption) error {
	if err := r.Client.List(ctx, list, options...); err != nil {
		return fmt.Errorf("list extension roles and their bindings: %w", err)
	}
	return meta.EachListItem(list, func(item runtime.Object) error {
		if object, ok := item.(client.Object); ok && !wanted[object.GetName()] {
			return kit.Remove(ctx, r.Client, object)
		}
		return nil
	})
}

// ensureClusterRole does not change the rules of an aggregated role.
func (r *Reconciler) ensureClusterRole(ctx context.Context, s *scope, want *rbacv1.ClusterRole) error {
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: want.Name}}
	_, err := kit.Ensure(ctx, r.Client, role, func() error {
		role.AggregationRule = want.AggregationRule
		if want.AggregationRule == nil {
			role.Rules = want.Rules
		}
		return r.mark(s, role, want.Labels)
	})
	return err
}

func (r *Reconciler) ensureClusterRoleBinding(ctx context.Context, s *scope, grant Grant) error {
	binding := &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: grant.Name}}
	return r.ensureBinding(ctx, binding, grant, &binding.RoleRef, func() error {
		binding.RoleRef, binding.Subjects = grant.RoleRef(), grant.Subjects
		return r.mark(s, binding, nil)
	})
}

func (r *Reconciler) ensureRoleBinding(ctx context.Context, s *scope, grant Grant, labels map[string]string) error {
	binding := &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace(), Name: grant.Name}}
	return r.ensureBinding(ctx, binding, grant, &binding.RoleRef, func() error {
		binding.RoleRef, binding.Subjects = grant.RoleRef(), grant.Subjects
		return r.mark(s, binding, labels)
	})
}

// ensureBinding creates or updates a binding. One of another role is deleted, because the role of a binding cannot be changed.
func (r *Reconciler) ensureBinding(ctx context.Context, binding client.Object, grant Grant, role *rbacv1.RoleRef, mutate func() error) error {
	_, err := kit.Ensure(ctx, r.Client, binding, func() error {
		if binding.GetResourceVersion() != "" && *role != grant.RoleRef() {
			return errOtherRole
		}
		return mutate()
	})
	if !errors.Is(err, errOtherRole) {
		return err
	}
	if err := kit.Remove(ctx, r.Client, binding); err != nil {
		return err
	}
	return kit.Wait(recheckBinding, fmt.Sprintf("binding %q for another role is being replaced", grant.Name))
}

// mark labels an object and makes the project its owner.
func (r *Reconciler) mark(s *scope, object client.Object, labels map[string]string) error {
	object.SetLabels(merged(merged(object.GetLabels(), labels), map[string]string{gardencorev1beta1.LabelProjectName: s.project.Name}))
	if err := controllerutil.SetControllerReference(s.project, object, r.Client.Scheme()); err != nil {
		return fmt.Errorf("own %q: %w", object.GetName(), err)
	}
	return nil
}
