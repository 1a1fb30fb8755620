// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/util/wait"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/client-go/kubernetes"
	"k8s.io/component-helpers/auth/rbac/reconciliation"
	"k8s.io/kubernetes/plugin/pkg/auth/authorizer/rbac/bootstrappolicy"
)

const (
	// policyHook creates the roles of Kubernetes itself, such as cluster-admin. The server is not ready before the hook is done.
	policyHook = "rbac/bootstrap-roles"

	policyRetry   = 100 * time.Millisecond
	policyTimeout = 30 * time.Second
	policyWriters = 8
)

// ensurePolicy adds missing roles and permissions and removes nothing. It omits the roles of kube-controller-manager's
// controllers, which run inside this process and need none.
func ensurePolicy(hook genericapiserver.PostStartHookContext) error {
	client, err := kubernetes.NewForConfig(hook.LoopbackClientConfig)
	if err != nil {
		return fmt.Errorf("create client for roles: %w", err)
	}

	var last error
	err = wait.PollUntilContextTimeout(hook, policyRetry, policyTimeout, true, func(context.Context) (bool, error) {
		last = reconcilePolicy(client)

		return last == nil, nil
	})
	if err != nil {
		return fmt.Errorf("create roles of Kubernetes: %w", errors.Join(err, last))
	}

	return nil
}

func reconcilePolicy(client kubernetes.Interface) error {
	var group errgroup.Group
	group.SetLimit(policyWriters)
	rbac, namespaces := client.RbacV1(), client.CoreV1().Namespaces()

	for _, role := range bootstrappolicy.ClusterRoles() {
		ensureRole(&group, reconciliation.ClusterRoleRuleOwner{ClusterRole: &role},
			reconciliation.ClusterRoleModifier{Client: rbac.ClusterRoles()})
	}
	for _, binding := range bootstrappolicy.ClusterRoleBindings() {
		ensureBinding(&group, reconciliation.ClusterRoleBindingAdapter{ClusterRoleBinding: &binding},
			reconciliation.ClusterRoleBindingClientAdapter{Client: rbac.ClusterRoleBindings()})
	}
	for _, roles := range bootstrappolicy.NamespaceRoles() {
		for _, role := range roles {
			ensureRole(&group, reconciliation.RoleRuleOwner{Role: &role},
				reconciliation.RoleModifier{Client: rbac, NamespaceClient: namespaces})
		}
	}
	for _, bindings := range bootstrappolicy.NamespaceRoleBindings() {
		for _, binding := range bindings {
			ensureBinding(&group, reconciliation.RoleBindingAdapter{RoleBinding: &binding},
				reconciliation.RoleBindingClientAdapter{Client: rbac, NamespaceClient: namespaces})
		}
	}

	return group.Wait()
}

func ensureRole(group *errgroup.Group, role reconciliation.RuleOwner, client reconciliation.RuleOwnerModifier) {
	group.Go(func() error {
		o := reconciliation.ReconcileRoleOptions{Role: role, Client: client, Confirm: true}
		if _, err := o.Run(); err != nil {
			return fmt.Errorf("reconcile role %q: %w", role.GetName(), err)
		}

		return nil
	})
}

func ensureBinding(
	group *errgroup.Group, binding reconciliation.RoleBinding, client reconciliation.RoleBindingModifier,
) {
	group.Go(func() error {
		o := reconciliation.ReconcileRoleBindingOptions{RoleBinding: binding, Client: client, Confirm: true}
		if _, err := o.Run(); err != nil {
			return fmt.Errorf("reconcile role binding %q: %w", binding.GetName(), err)
		}

		return nil
	})
}
