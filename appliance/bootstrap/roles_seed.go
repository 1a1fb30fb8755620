// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	certificatesv1 "k8s.io/api/certificates/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// seedRoles returns the roles of gardenlets before they have a certificate. With a certificate, the seed authorizer
// authorizes them, because a role cannot distinguish the objects of different seeds.
func seedRoles() []object {
	return []object{
		clusterRole(gardencorev1beta1.ClusterRoleSeedBootstrapper, nil,
			on(certificatesv1.GroupName, []string{"create", "get"}, "certificatesigningrequests"),
			on(certificatesv1.GroupName, []string{"create"}, "certificatesigningrequests/seedclient",
				"certificatesigningrequests/shootclient"),
		),
		bind(gardencorev1beta1.ClusterRoleSeedBootstrapper, group(gardencorev1beta1.GroupBootstrappers)),
	}
}

// retired returns objects of earlier versions that must be deleted: roles of gardenlets, which gave each of them access to
// objects of other seeds.
func retired() []object {
	everywhere := metav1.ObjectMeta{Name: gardencorev1beta1.ClusterRoleSeeds}
	leases := metav1.ObjectMeta{Namespace: gardencorev1beta1.NamespaceSeedLease, Name: gardencorev1beta1.ClusterRoleSeeds}

	return []object{
		{resource: rbacv1.SchemeGroupVersion.WithResource("clusterrolebindings"), value: &rbacv1.ClusterRoleBinding{ObjectMeta: everywhere}},
		{resource: rbacv1.SchemeGroupVersion.WithResource("clusterroles"), value: &rbacv1.ClusterRole{ObjectMeta: everywhere}},
		{resource: rbacv1.SchemeGroupVersion.WithResource("rolebindings"), value: &rbacv1.RoleBinding{ObjectMeta: leases}},
		{resource: rbacv1.SchemeGroupVersion.WithResource("roles"), value: &rbacv1.Role{ObjectMeta: leases}},
	}
}
