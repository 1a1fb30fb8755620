// SPDX-License-Identifier: Apache-2.0

package machinecontroller

import (
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/component/shootsystem"
)

// RightsTask is the task for what the machine controller needs inside of the shoot.
const RightsTask = name + "-rights"

// role is the name of the rights in the shoot.
const role = "gardener.cloud:target:" + name

// Inside are the rights of the machine controller in the shoot: it drains nodes, waits until their volumes are detached, deletes their
// objects, and makes the tokens with which new nodes join.
func Inside() component.Component[facts.Shoot] {
	return component.Component[facts.Shoot]{
		Name: Name, Title: "the rights of the machine controller", Task: RightsTask, After: []component.Name{shootsystem.Name},
		Wanted: Wanted, Render: inside,
	}
}

func inside(facts.Shoot, *component.Inputs) ([]client.Object, error) {
	read := []string{"get", "list", "watch"}
	labels := map[string]string{gardencorev1beta1.LabelRole: gardencorev1beta1.RoleSystemComponent, gardencorev1beta1.LabelShootNoCleanup: "true"}
	global := metav1.ObjectMeta{Name: role, Labels: labels}
	local := metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: role, Labels: labels}
	subjects := []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: metav1.NamespaceSystem, Name: name}}
	rule := func(group string, verbs []string, resources ...string) rbacv1.PolicyRule {
		return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: resources, Verbs: verbs}
	}
	return []client.Object{
		&rbacv1.ClusterRole{ObjectMeta: global, Rules: []rbacv1.PolicyRule{
			rule("", append([]string{"patch", "update", "delete"}, read...), "nodes"),
			rule("", []string{"patch", "update"}, "nodes/status"),
			rule("", append([]string{"delete"}, read...), "pods"),
			rule("", []string{"create"}, "pods/eviction"),
			rule("", read, "persistentvolumeclaims", "persistentvolumes"),
			rule("policy", read, "poddisruptionbudgets"),
			rule("storage.k8s.io", append([]string{"delete"}, read...), "volumeattachments"),
		}},
		&rbacv1.ClusterRoleBinding{ObjectMeta: global, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role}, Subjects: subjects},
		// Tokens with which nodes join have names that cannot be known before.
		&rbacv1.Role{ObjectMeta: local, Rules: []rbacv1.PolicyRule{rule("", []string{"get", "create", "delete"}, "secrets")}},
		&rbacv1.RoleBinding{ObjectMeta: local, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role}, Subjects: subjects},
	}, nil
}
