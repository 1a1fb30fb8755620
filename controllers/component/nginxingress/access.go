// SPDX-License-Identifier: Apache-2.0

package nginxingress

import (
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// access is what the controller may do: read what Ingresses are made of and refer to in all namespaces, among it the Secrets with their
// certificates, write the address into Ingresses, and elect a leader in its own namespace.
func access() []client.Object {
	read := []string{"get", "list", "watch"}
	global := metav1.ObjectMeta{Name: account, Labels: labels()}
	self := []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: metav1.NamespaceSystem, Name: account}}
	return []client.Object{
		&corev1.ServiceAccount{ObjectMeta: meta(account), AutomountServiceAccountToken: new(false)},
		&rbacv1.ClusterRole{ObjectMeta: global, Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{""}, Resources: []string{"configmaps", "namespaces", "secrets"}, Verbs: []string{"list", "watch"}},
			{APIGroups: []string{""}, Resources: []string{"services"}, Verbs: read},
			{APIGroups: []string{"discovery.k8s.io"}, Resources: []string{"endpointslices"}, Verbs: read},
			{APIGroups: []string{"networking.k8s.io"}, Resources: []string{"ingressclasses", "ingresses"}, Verbs: read},
			{APIGroups: []string{"networking.k8s.io"}, Resources: []string{"ingresses/status"}, Verbs: []string{"update"}},
			{APIGroups: []string{""}, Resources: []string{"events"}, Verbs: []string{"create", "patch"}},
		}},
		&rbacv1.ClusterRoleBinding{
			ObjectMeta: global, Subjects: self, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: account},
		},
		&rbacv1.Role{ObjectMeta: meta(account), Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: read},
			{APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, Verbs: []string{"create"}},
			{APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, ResourceNames: []string{leader}, Verbs: []string{"get", "update"}},
		}},
		&rbacv1.RoleBinding{
			ObjectMeta: meta(account), Subjects: self, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: account},
		},
	}
}
