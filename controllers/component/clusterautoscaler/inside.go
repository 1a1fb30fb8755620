// SPDX-License-Identifier: Apache-2.0

package clusterautoscaler

import (
	"fmt"
	"regexp"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/component/shootsystem"
)

const (
	// role is the name of the rights in the shoot.
	role = "gardener.cloud:target:cluster-autoscaler"
	// priorities says which machine deployments the expander priority prefers, status is what the autoscaler writes.
	priorities = "cluster-autoscaler-priority-expander"
	status     = "cluster-autoscaler-status"
)

// Inside is what the autoscaler needs inside the shoot: its rights, the priorities of pools, and the place of its status. The content of the
// status is left to the autoscaler; it goes with the rights, so that no shoot has the status of an autoscaler that is not there any more.
func Inside() component.Component[facts.Shoot] {
	return component.Component[facts.Shoot]{
		Name: Name, Title: "the rights of the cluster autoscaler", Task: "cluster-autoscaler-rights", After: []component.Name{shootsystem.Name},
		Wanted: wanted, Render: inside,
	}
}

func inside(f facts.Shoot, _ *component.Inputs) ([]client.Object, error) {
	labels := map[string]string{gardencorev1beta1.LabelRole: gardencorev1beta1.RoleSystemComponent, gardencorev1beta1.LabelShootNoCleanup: "true"}
	global := metav1.ObjectMeta{Name: role, Labels: labels}
	local := metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: role, Labels: labels}
	subjects := []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}}
	objs := []client.Object{
		&rbacv1.ClusterRole{ObjectMeta: global, Rules: everywhere(f)},
		&rbacv1.ClusterRoleBinding{ObjectMeta: global, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role}, Subjects: subjects},
		&rbacv1.Role{ObjectMeta: local, Rules: inSystem(f)},
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: status, Labels: labels}},
		&rbacv1.RoleBinding{ObjectMeta: local, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role}, Subjects: subjects},
	}
	if text, err := preferred(f); text != "" || err != nil {
		return append(objs, &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: priorities, Labels: labels},
			Data:       map[string]string{"priorities": text},
		}), err
	}
	return objs, nil
}

// inSystem are the rights in kube-system. The upstream autoscaler elects a leader there, with a Lease of its name: the leases of nodes and of
// other controllers are not its business. A right to create cannot name an object.
func inSystem(f facts.Shoot) []rbacv1.PolicyRule {
	rules := []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"create"}},
		{APIGroups: []string{""}, Resources: []string{"configmaps"}, ResourceNames: []string{status}, Verbs: []string{"get", "update", "patch", "delete"}},
		{APIGroups: []string{""}, Resources: []string{"configmaps"}, ResourceNames: []string{priorities}, Verbs: []string{"get", "list", "watch"}},
	}
	if f.LocalMachines() {
		return rules
	}
	return append(
		rules,
		rbacv1.PolicyRule{APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, Verbs: []string{"create"}},
		rbacv1.PolicyRule{APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, ResourceNames: []string{name}, Verbs: []string{"get", "update"}},
	)
}

// everywhere are the rights in all namespaces. The autoscaler of this project only reads; the upstream one evicts pods itself, and has
// more of the scheduler in it.
func everywhere(f facts.Shoot) []rbacv1.PolicyRule {
	read := []string{"get", "list", "watch"}
	rules := []rbacv1.PolicyRule{
		{APIGroups: []string{"", "events.k8s.io"}, Resources: []string{"events"}, Verbs: []string{"create", "patch", "update"}},
		{APIGroups: []string{""}, Resources: []string{"nodes", "pods"}, Verbs: read},
		{APIGroups: []string{"apps"}, Resources: []string{"daemonsets"}, Verbs: read},
		{APIGroups: []string{"policy"}, Resources: []string{"poddisruptionbudgets"}, Verbs: read},
	}
	if f.LocalMachines() {
		return rules
	}
	return append(
		rules,
		rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"nodes"}, Verbs: []string{"patch", "update", "delete"}},
		rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"pods/eviction"}, Verbs: []string{"create"}},
		rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"pods/status"}, Verbs: []string{"update"}},
		rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{
			"endpoints", "namespaces", "persistentvolumeclaims", "persistentvolumes", "replicationcontrollers", "services",
		}, Verbs: read},
		rbacv1.PolicyRule{APIGroups: []string{"apps"}, Resources: []string{"replicasets", "statefulsets"}, Verbs: read},
		rbacv1.PolicyRule{APIGroups: []string{"batch"}, Resources: []string{"cronjobs", "jobs"}, Verbs: read},
		rbacv1.PolicyRule{APIGroups: []string{"storage.k8s.io"}, Resources: []string{
			"csidrivers", "csinodes", "csistoragecapacities", "storageclasses", "volumeattachments",
		}, Verbs: read},
		rbacv1.PolicyRule{APIGroups: []string{"resource.k8s.io"}, Resources: []string{"deviceclasses", "resourceclaims", "resourceslices"}, Verbs: read},
	)
}

// preferred maps priorities of pools to expressions for the names of their machine deployments, for the expander priority. It is empty if
// no pool has one.
func preferred(f facts.Shoot) (string, error) {
	all := map[int32][]string{}
	for i := range f.Shoot.Spec.Provider.Workers {
		pool := &f.Shoot.Spec.Provider.Workers[i]
		if pool.Priority != nil {
			all[*pool.Priority] = append(all[*pool.Priority], fmt.Sprintf("^(.*\\.)?%s(-z[0-9]+)?$", regexp.QuoteMeta(f.Namespace+"-"+pool.Name)))
		}
	}
	if len(all) == 0 {
		return "", nil
	}
	return component.YAML(all)
}
