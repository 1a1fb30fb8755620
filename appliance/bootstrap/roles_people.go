// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"slices"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	rbacv1 "k8s.io/api/rbac/v1"

	gardenappliancev1alpha1 "github.com/terrarium-garden/terrarium/apis/appliance/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenoperationsv1alpha1 "github.com/terrarium-garden/terrarium/apis/operations/v1alpha1"
	gardenoperatorv1alpha1 "github.com/terrarium-garden/terrarium/apis/operator/v1alpha1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
	gardensettingsv1alpha1 "github.com/terrarium-garden/terrarium/apis/settings/v1alpha1"
)

// Values of the role label on cluster roles. Roles of extensions have the same ones to be aggregated.
const (
	roleAdmin                        = "admin"
	roleViewer                       = "viewer"
	roleProjectMember                = "project-member"
	roleProjectViewer                = "project-viewer"
	roleProjectServiceAccountManager = "project-serviceaccountmanager"
)

const (
	groupAPIExtensions   = "apiextensions.k8s.io"
	groupAPIRegistration = "apiregistration.k8s.io"
)

func gardenGroups() []string {
	return []string{
		gardencorev1beta1.GroupName, gardenseedmanagementv1alpha1.GroupName, gardenoperationsv1alpha1.GroupName,
		gardensecurityv1alpha1.GroupName, gardensettingsv1alpha1.GroupName, gardenoperatorv1alpha1.GroupName,
	}
}

func isSecurity(group string) bool { return group == gardensecurityv1alpha1.GroupName }

// operatorRoles returns the roles of operators of the garden.
func operatorRoles() []object {
	everything := []string{all}

	return []object{
		clusterRole(gardencorev1beta1.ClusterRoleAdmin, labelled(roleAdmin),
			rbacv1.PolicyRule{
				APIGroups: slices.DeleteFunc(gardenGroups(), isSecurity), Resources: everything, Verbs: everything,
			},
			// Tokens of workload identities are only for the shoots and seeds that use them: with one, an operator could act as a
			// project at its cloud provider.
			on(gardensecurityv1alpha1.GroupName, everything, "credentialsbindings", "workloadidentities"),
			on(corev1.GroupName, everything, "configmaps", "events", "namespaces", "resourcequotas", "secrets",
				"serviceaccounts", "serviceaccounts/token"),
			on(eventsv1.GroupName, everything, "events"),
			on(rbacv1.GroupName, everything, "clusterroles", "clusterrolebindings", "roles", "rolebindings"),
			on(admissionregistrationv1.GroupName, everything, all),
			on(groupAPIRegistration, everything, "apiservices"),
			on(groupAPIExtensions, everything, "customresourcedefinitions"),
			on(coordinationv1.GroupName, everything, "leases"),
			on(certificatesv1.GroupName, everything, "certificatesigningrequests", "certificatesigningrequests/approval"),
			on(gardenappliancev1alpha1.GroupName, []string{"create", "delete", "get", "list"}, "snapshots"),
			on(gardenappliancev1alpha1.GroupName, []string{"create"}, "snapshots/verification"),
			on(gardenappliancev1alpha1.GroupName, []string{"get"}, "snapshots/download"),
		),
		bind(gardencorev1beta1.ClusterRoleAdmin, user(gardencorev1beta1.UserKubeAggregator)),
		sum(gardencorev1beta1.ClusterRoleAdministrators, nil,
			labelled(roleAdmin), labelled(roleProjectMember), labelled(roleProjectServiceAccountManager)),

		clusterRole(gardencorev1beta1.ClusterRoleViewer, labelled(roleViewer),
			on(gardencorev1beta1.GroupName, readVerbs(), gardenResources()...),
			on(gardenseedmanagementv1alpha1.GroupName, readVerbs(), "gardenlets", "managedseeds", "managedseedsets"),
			on(gardenoperationsv1alpha1.GroupName, readVerbs(), "bastions"),
			on(gardensecurityv1alpha1.GroupName, readVerbs(), "credentialsbindings", "workloadidentities"),
			on(gardensettingsv1alpha1.GroupName, readVerbs(), "clusteropenidconnectpresets", "openidconnectpresets"),
			on(gardenoperatorv1alpha1.GroupName, readVerbs(), "gardens"),
			on(corev1.GroupName, readVerbs(), "configmaps", "events", "namespaces", "resourcequotas", "serviceaccounts"),
			on(eventsv1.GroupName, readVerbs(), "events"),
			on(rbacv1.GroupName, readVerbs(), "clusterroles", "clusterrolebindings", "roles", "rolebindings"),
			on(admissionregistrationv1.GroupName, readVerbs(), all),
			on(groupAPIRegistration, readVerbs(), "apiservices"),
			on(groupAPIExtensions, readVerbs(), "customresourcedefinitions"),
			on(coordinationv1.GroupName, readVerbs(), "leases"),
			on(certificatesv1.GroupName, readVerbs(), "certificatesigningrequests"),
		),
		sum(gardencorev1beta1.ClusterRoleViewers, nil, labelled(roleViewer), labelled(roleProjectViewer)),
		bind(gardencorev1beta1.ClusterRoleViewers, group(gardencorev1beta1.GroupShootSystemViewers)),
	}
}

// everyoneRoles returns the roles of all authenticated users.
func everyoneRoles() []object {
	everyone := group(gardencorev1beta1.GroupAuthenticated)
	some := []object{
		clusterRole(gardencorev1beta1.ClusterRoleReadGlobalResources, nil,
			on(gardencorev1beta1.GroupName, readVerbs(), "cloudprofiles", "controllerregistrations", "exposureclasses",
				"seeds"),
			on(groupAPIExtensions, readVerbs(), "customresourcedefinitions"),
		),
		bind(gardencorev1beta1.ClusterRoleReadGlobalResources, everyone),
		// Each request needs the right to read the objects as well.
		clusterRole(gardenappliancev1alpha1.ClusterRoleTimelines, nil,
			on(gardenappliancev1alpha1.GroupName, readVerbs(), "timelines")),
		bind(gardenappliancev1alpha1.ClusterRoleTimelines, everyone),
		clusterRole(gardencorev1beta1.ClusterRoleUserAuth, nil,
			on(authenticationv1.GroupName, []string{"create"}, "tokenreviews"),
			on(authorizationv1.GroupName, []string{"create"}, "selfsubjectaccessreviews"),
		),
		bind(gardencorev1beta1.ClusterRoleUserAuth, everyone),
		// The operator decides who may create projects, see projectCreators.
		clusterRole(gardencorev1beta1.ClusterRoleProjectCreation, nil,
			on(gardencorev1beta1.GroupName, []string{"create"}, "projects")),
	}
	some = append(some, roleIn(gardencorev1beta1.NamespacePublic, gardencorev1beta1.RoleReadPublic, everyone,
		on(corev1.GroupName, readVerbs(), "configmaps"))...)
	identity := on(corev1.GroupName, readVerbs(), "configmaps")
	identity.ResourceNames = []string{gardencorev1beta1.ConfigMapClusterIdentity}

	return append(some, roleIn(gardencorev1beta1.NamespaceKubeSystem, gardencorev1beta1.RoleReadClusterIdentity, everyone,
		identity)...)
}

// projectCreators returns the binding that lets all authenticated users create projects. It has its own name, so that
// bindings with which operators choose the creators are not changed (API-RES-12).
func projectCreators() object {
	binding := bind(gardencorev1beta1.ClusterRoleProjectCreation, group(gardencorev1beta1.GroupAuthenticated))
	binding.value.SetName(gardencorev1beta1.ClusterRoleProjectCreation + ":authenticated")

	return binding
}
