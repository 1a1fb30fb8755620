// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// access is what the two programs may do by themselves. The dashboard keeps its own objects and asks for measurements, all in its
// namespace; only what measures may read more, and that is measurements of pods and nodes.
func access() []client.Object {
	account := func(name string) client.Object {
		return &corev1.ServiceAccount{ObjectMeta: meta(name, name), AutomountServiceAccountToken: new(false)}
	}
	of := func(name string) []rbacv1.Subject {
		return []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: name}}
	}
	global := metav1.ObjectMeta{Name: scraper, Labels: labels(scraper)}
	return []client.Object{
		account(name), account(scraper),
		&rbacv1.Role{ObjectMeta: meta(name, name), Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{""}, Resources: []string{"secrets"}, ResourceNames: []string{keyHolder, csrf}, Verbs: []string{"get", "update", "delete"}},
			{APIGroups: []string{""}, Resources: []string{"configmaps"}, ResourceNames: []string{settings}, Verbs: []string{"get", "update"}},
			{APIGroups: []string{""}, Resources: []string{"services/proxy"}, ResourceNames: []string{scraper, "http:" + scraper}, Verbs: []string{"get"}},
		}},
		&rbacv1.RoleBinding{
			ObjectMeta: meta(name, name), Subjects: of(name), RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
		},
		&rbacv1.ClusterRole{ObjectMeta: global, Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{"metrics.k8s.io"}, Resources: []string{"nodes", "pods"}, Verbs: []string{"get", "list", "watch"}},
		}},
		&rbacv1.ClusterRoleBinding{
			ObjectMeta: global, Subjects: of(scraper), RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: scraper},
		},
	}
}
