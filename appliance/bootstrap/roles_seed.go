// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	certificatesv1 "k8s.io/api/certificates/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// seedRoles are for gardenlets: before they have a certificate, and with it.
func seedRoles() []object {
	create := []string{"create"}
	change := []string{"get", "list", "watch", "update", "patch"}
	gardenlets := group(gardencorev1beta1.GroupSeeds)

	roles := []object{
		clusterRole(gardencorev1beta1.ClusterRoleSeedBootstrapper, nil,
			on(certificatesv1.GroupName, []string{"create", "get"}, "certificatesigningrequests"),
			on(certificatesv1.GroupName, create, "certificatesigningrequests/seedclient"),
		),
		bind(gardencorev1beta1.ClusterRoleSeedBootstrapper, group(gardencorev1beta1.GroupBootstrappers)),

		clusterRole(gardencorev1beta1.ClusterRoleSeeds, nil,
			on(gardencorev1beta1.GroupName, writeVerbs(), "seeds", "internalsecrets"),
			on(gardencorev1beta1.GroupName, change, "seeds/status"),
			on(gardencorev1beta1.GroupName, change, "shoots", "shoots/status", "controllerinstallations",
				"controllerinstallations/status"),
			on(gardencorev1beta1.GroupName, readVerbs(), "cloudprofiles", "controllerdeployments",
				"controllerregistrations", "projects", "secretbindings"),
			on(corev1.GroupName, writeVerbs(), "configmaps", "secrets"),
			on(corev1.GroupName, readVerbs(), "namespaces"),
			on(corev1.GroupName, []string{"create", "patch"}, "events"),
			on(eventsv1.GroupName, []string{"create", "patch"}, "events"),
			on(certificatesv1.GroupName, []string{"create", "get", "list", "watch"}, "certificatesigningrequests"),
			on(certificatesv1.GroupName, create, "certificatesigningrequests/seedclient"),
		),
		bind(gardencorev1beta1.ClusterRoleSeeds, gardenlets),
	}

	return append(roles, roleIn(gardencorev1beta1.NamespaceSeedLease, gardencorev1beta1.ClusterRoleSeeds, gardenlets,
		on(coordinationv1.GroupName, []string{"create", "get", "list", "watch", "update", "patch"}, "leases"))...)
}
