// SPDX-License-Identifier: Apache-2.0

package project

import (
	"context"
	"fmt"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// recheckBinding is how soon a binding that had to be deleted is made anew.
const recheckBinding = time.Second

// ensureRoles gives the members their rights on the project, its namespace and what is in it (GCM-PROJECT-7).
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

// ensureExtensionRoles keeps the roles that only this project has, and removes those that no member holds any more
// (GCM-PROJECT-8). Their rules are aggregated by the garden itself.
func (r *Reconciler) ensureExtensionRoles(ctx context.Context, s *scope) (kit.Outcome, error) {
	labels := client.MatchingLabels{
		gardencorev1beta1.LabelRole:        gardencorev1beta1.RoleExtensionProject,
		gardencorev1beta1.LabelProjectName: s.project.Name,
	}
	wanted := map[string]bool{}
	for _, grant := range ExtensionGrants(s.project, MembersOf(s.project)) {
		wanted[grant.Name] = true
		if err := r.ensureClusterRole(ctx, s, &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: grant.Name, Labels: labels}, AggregationRule: grant.Aggregation}); err != nil {
			return kit.Stop(), err
		}
		if err := r.ensureRoleBinding(ctx, s, grant, labels); err != nil {
			return kit.Stop(), err
		}
	}
	return kit.Continue(), r.removeExtensionRoles(ctx, s, labels, wanted)
}

func (r *Reconciler) removeExtensionRoles(ctx context.Context, s *scope, labels client.MatchingLabels, wanted map[string]bool) error {
	bindings := &rbacv1.RoleBindingList{}
	if err := r.Client.List(ctx, bindings, labels, client.InNamespace(s.namespace())); err != nil {
		return fmt.Errorf("list role bindings of extension roles: %w", err)
	}
	for i := range bindings.Items {
		if !wanted[bindings.Items[i].Name] {
			if err := kit.Remove(ctx, r.Client, &bindings.Items[i]); err != nil {
				return err
			}
		}
	}
	roles := &rbacv1.ClusterRoleList{}
	if err := r.Client.List(ctx, roles, labels); err != nil {
		return fmt.Errorf("list extension roles: %w", err)
	}
	for i := range roles.Items {
		if !wanted[roles.Items[i].Name] {
			if err := kit.Remove(ctx, r.Client, &roles.Items[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// ensureClusterRole leaves the rules of an aggregated role alone.
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
	if err := r.replaceOther(ctx, binding, func() rbacv1.RoleRef { return binding.RoleRef }, grant); err != nil {
		return err
	}
	binding = &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: grant.Name}}
	_, err := kit.Ensure(ctx, r.Client, binding, func() error {
		binding.RoleRef, binding.Subjects = grant.RoleRef(), grant.Subjects
		return r.mark(s, binding, nil)
	})
	return err
}

func (r *Reconciler) ensureRoleBinding(ctx context.Context, s *scope, grant Grant, labels map[string]string) error {
	binding := &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace(), Name: grant.Name}}
	if err := r.replaceOther(ctx, binding, func() rbacv1.RoleRef { return binding.RoleRef }, grant); err != nil {
		return err
	}
	binding = &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace(), Name: grant.Name}}
	_, err := kit.Ensure(ctx, r.Client, binding, func() error {
		binding.RoleRef, binding.Subjects = grant.RoleRef(), grant.Subjects
		return r.mark(s, binding, labels)
	})
	return err
}

// replaceOther deletes a binding that somebody made for another role: the role of a binding never changes, so it has to
// be made anew.
func (r *Reconciler) replaceOther(ctx context.Context, binding client.Object, roleOf func() rbacv1.RoleRef, grant Grant) error {
	err := r.Client.Get(ctx, client.ObjectKeyFromObject(binding), binding)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read binding %q: %w", grant.Name, err)
	}
	if roleOf() == grant.RoleRef() {
		return nil
	}
	if err := kit.Remove(ctx, r.Client, binding); err != nil {
		return err
	}
	return kit.Wait(recheckBinding, fmt.Sprintf("binding %q for another role is being replaced", grant.Name))
}

// mark labels an object and ties it to the project.
func (r *Reconciler) mark(s *scope, object client.Object, labels map[string]string) error {
	object.SetLabels(merged(merged(object.GetLabels(), labels), map[string]string{gardencorev1beta1.LabelProjectName: s.project.Name}))
	if err := controllerutil.SetControllerReference(s.project, object, r.Client.Scheme()); err != nil {
		return fmt.Errorf("own %q: %w", object.GetName(), err)
	}
	return nil
}
