// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// Values that match everything in a rule.
const all = "*"

func readVerbs() []string { return []string{"get", "list", "watch"} }

func writeVerbs() []string {
	return []string{"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"}
}

// gardenResources returns the kinds of the core group that readers may see. InternalSecrets and ShootStates, which contain
// keys, are only for gardenlets and the server.
func gardenResources() []string {
	return []string{
		"backupbuckets", "backupentries", "cloudprofiles", "controllerdeployments", "controllerinstallations",
		"controllerregistrations", "exposureclasses", "namespacedcloudprofiles", "plants", "projects", "quotas",
		"secretbindings", "seeds", "shoots",
	}
}

// on returns a rule for resources of one group.
func on(group string, verbs []string, resources ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: resources, Verbs: verbs}
}

func clusterRole(name string, labels map[string]string, rules ...rbacv1.PolicyRule) object {
	return object{
		resource: rbacv1.SchemeGroupVersion.WithResource("clusterroles"),
		value: &rbacv1.ClusterRole{
			TypeMeta:   metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "ClusterRole"},
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
			Rules:      rules,
		},
	}
}

// sum returns a role that aggregates the rules of all roles with one of the labels. A controller of Kubernetes sets the
// rules, so none are applied here.
func sum(name string, labels map[string]string, of ...map[string]string) object {
	o := clusterRole(name, labels)
	role := &rbacv1.AggregationRule{}
	for _, match := range of {
		role.ClusterRoleSelectors = append(role.ClusterRoleSelectors, metav1.LabelSelector{MatchLabels: match})
	}
	if r, ok := o.value.(*rbacv1.ClusterRole); ok {
		r.AggregationRule = role
	}

	return o
}

// bind returns a binding of the cluster role of the same name to a subject.
func bind(name string, to rbacv1.Subject) object {
	return object{
		resource: rbacv1.SchemeGroupVersion.WithResource("clusterrolebindings"),
		value: &rbacv1.ClusterRoleBinding{
			TypeMeta:   metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "ClusterRoleBinding"},
			ObjectMeta: metav1.ObjectMeta{Name: name},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
			Subjects:   []rbacv1.Subject{to},
		},
	}
}

// roleIn returns a role in a namespace and its binding to a subject.
func roleIn(namespace, name string, to rbacv1.Subject, rules ...rbacv1.PolicyRule) []object {
	meta := metav1.ObjectMeta{Namespace: namespace, Name: name}

	return []object{
		{
			resource: rbacv1.SchemeGroupVersion.WithResource("roles"),
			value: &rbacv1.Role{
				TypeMeta:   metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "Role"},
				ObjectMeta: meta,
				Rules:      rules,
			},
		},
		{
			resource: rbacv1.SchemeGroupVersion.WithResource("rolebindings"),
			value: &rbacv1.RoleBinding{
				TypeMeta:   metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "RoleBinding"},
				ObjectMeta: meta,
				RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
				Subjects:   []rbacv1.Subject{to},
			},
		},
	}
}

func group(name string) rbacv1.Subject {
	return rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: name}
}

func user(name string) rbacv1.Subject {
	return rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: name}
}

func labelled(role string) map[string]string {
	return map[string]string{gardencorev1beta1.LabelRole: role}
}
