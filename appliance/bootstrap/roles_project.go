// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	rbacv1 "k8s.io/api/rbac/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenoperationsv1alpha1 "github.com/terrarium-garden/terrarium/apis/operations/v1alpha1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	gardensettingsv1alpha1 "github.com/terrarium-garden/terrarium/apis/settings/v1alpha1"
)

// projectRoles returns the roles that the controller of projects binds in the namespace of each project. Each aggregates the
// rules below and those that extensions add.
func projectRoles() []object {
	joins := func(label string) map[string]string { return map[string]string{label: "true"} }
	member := joins(gardencorev1beta1.LabelAggregateToProjectMember)
	viewer := joins(gardencorev1beta1.LabelAggregateToProjectViewer)
	manager := joins(gardencorev1beta1.LabelAggregateToProjectServiceAccountManager)

	return []object{
		clusterRole(gardencorev1beta1.ClusterRoleProjectMemberAggregation, member,
			on(gardencorev1beta1.GroupName, writeVerbs(), "namespacedcloudprofiles", "plants", "quotas", "secretbindings",
				"shoots"),
			on(gardencorev1beta1.GroupName, []string{"create"}, "shoots/adminkubeconfig", "shoots/viewerkubeconfig"),
			// A user who creates an object that is owned by a shoot and blocks its deletion needs this permission on the shoot.
			on(gardencorev1beta1.GroupName, []string{"update"}, "shoots/finalizers"),
			on(gardenoperationsv1alpha1.GroupName, writeVerbs(), "bastions"),
			on(gardensecurityv1alpha1.GroupName, writeVerbs(), "credentialsbindings", "workloadidentities"),
			on(gardensettingsv1alpha1.GroupName, writeVerbs(), "openidconnectpresets"),
			on(corev1.GroupName, writeVerbs(), "configmaps", "secrets"),
			on(corev1.GroupName, readVerbs(), "events", "resourcequotas", "serviceaccounts"),
			on(eventsv1.GroupName, readVerbs(), "events"),
			on(rbacv1.GroupName, writeVerbs(), "roles", "rolebindings"),
		),
		sum(gardencorev1beta1.ClusterRoleProjectMember, labelled(roleProjectMember), member),

		clusterRole(gardencorev1beta1.ClusterRoleProjectViewerAggregation, viewer,
			on(gardencorev1beta1.GroupName, readVerbs(), "namespacedcloudprofiles", "plants", "quotas", "secretbindings",
				"shoots"),
			on(gardencorev1beta1.GroupName, []string{"create"}, "shoots/viewerkubeconfig"),
			on(gardenoperationsv1alpha1.GroupName, readVerbs(), "bastions"),
			on(gardensecurityv1alpha1.GroupName, readVerbs(), "credentialsbindings", "workloadidentities"),
			on(gardensettingsv1alpha1.GroupName, readVerbs(), "openidconnectpresets"),
			on(corev1.GroupName, readVerbs(), "configmaps", "events", "resourcequotas", "serviceaccounts"),
			on(eventsv1.GroupName, readVerbs(), "events"),
			on(rbacv1.GroupName, readVerbs(), "roles", "rolebindings"),
		),
		sum(gardencorev1beta1.ClusterRoleProjectViewer, labelled(roleProjectViewer), viewer),

		clusterRole(gardencorev1beta1.ClusterRoleProjectServiceAccountManagerAggregation, manager,
			on(corev1.GroupName, writeVerbs(), "serviceaccounts"),
			on(corev1.GroupName, []string{"create"}, "serviceaccounts/token"),
		),
		sum(gardencorev1beta1.ClusterRoleProjectServiceAccountManager, labelled(roleProjectServiceAccountManager), manager),
	}
}
