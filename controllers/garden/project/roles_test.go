// SPDX-License-Identifier: Apache-2.0

package project_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/garden/project"
)

func user(name string) rbacv1.Subject {
	return rbacv1.Subject{APIGroup: "rbac.authorization.k8s.io", Kind: "User", Name: name}
}

func member(subject rbacv1.Subject, role string, more ...string) gardencorev1beta1.ProjectMember {
	return gardencorev1beta1.ProjectMember{Subject: subject, Role: role, Roles: more}
}

func withMembers(members ...gardencorev1beta1.ProjectMember) *gardencorev1beta1.Project {
	p := dev()
	p.Spec.Members = members
	return p
}

func TestMembersOf(t *testing.T) {
	t.Parallel()
	robot := rbacv1.Subject{Kind: "ServiceAccount", Namespace: "garden-dev", Name: "robot"}
	none := map[string][]rbacv1.Subject{}
	cases := map[string]struct {
		reason  string
		members []gardencorev1beta1.ProjectMember
		want    project.Members
	}{
		"GCM-PROJECT-8 owner": {
			reason:  "the owner is bound like an admin as well, once, although admin is listed too",
			members: []gardencorev1beta1.ProjectMember{member(user("ann"), "admin", "owner")},
			want:    project.Members{Owners: []rbacv1.Subject{user("ann")}, Admins: []rbacv1.Subject{user("ann")}, Extensions: none},
		},
		"GCM-PROJECT-7 roles": {
			reason: "every role of a member counts",
			members: []gardencorev1beta1.ProjectMember{
				member(user("bob"), "viewer", "uam"), member(robot, "serviceaccountmanager"), member(user("cid"), "admin"),
			},
			want: project.Members{
				Admins: []rbacv1.Subject{user("cid")}, Viewers: []rbacv1.Subject{user("bob")}, AccessManagers: []rbacv1.Subject{user("bob")},
				ServiceAccountManagers: []rbacv1.Subject{robot}, Extensions: none,
			},
		},
		"GCM-PROJECT-8 extension role": {
			reason:  "extension roles are told apart by their names, unknown roles give nothing",
			members: []gardencorev1beta1.ProjectMember{member(user("bob"), "extension:metering", "extension:logs", "emperor")},
			want:    project.Members{Extensions: map[string][]rbacv1.Subject{"metering": {user("bob")}, "logs": {user("bob")}}},
		},
		"GCM-PROJECT-7 API group": {
			reason:  "the API group is filled as the server does it, so that nothing is written again and again",
			members: []gardencorev1beta1.ProjectMember{member(rbacv1.Subject{Kind: "User", Name: "ann"}, "viewer")},
			want:    project.Members{Viewers: []rbacv1.Subject{user("ann")}, Extensions: none},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, project.MembersOf(withMembers(tc.members...))); diff != "" {
				t.Errorf("%s\nMembersOf (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestClusterGrants(t *testing.T) {
	t.Parallel()
	p := withMembers(member(user("ann"), "owner"), member(user("bob"), "viewer"), member(user("cid"), "uam"))
	inNamespace := rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"namespaces"}, ResourceNames: []string{"garden-dev"}, Verbs: []string{"get"}}
	onProject := func(verbs ...string) rbacv1.PolicyRule {
		return rbacv1.PolicyRule{APIGroups: []string{"core.gardener.cloud"}, Resources: []string{"projects"}, ResourceNames: []string{"dev"}, Verbs: verbs}
	}
	want := []project.Grant{
		{Name: "gardener.cloud:system:project:dev", Rules: []rbacv1.PolicyRule{inNamespace, onProject("get", "patch", "manage-members", "update", "delete")}, Subjects: []rbacv1.Subject{user("ann")}},
		{Name: "gardener.cloud:system:project-uam:dev", Rules: []rbacv1.PolicyRule{onProject("get", "manage-members", "patch", "update")}, Subjects: []rbacv1.Subject{user("cid")}},
		{Name: "gardener.cloud:system:project-member:dev", Rules: []rbacv1.PolicyRule{inNamespace, onProject("get", "patch", "update", "delete")}, Subjects: []rbacv1.Subject{user("ann")}},
		{Name: "gardener.cloud:system:project-viewer:dev", Rules: []rbacv1.PolicyRule{inNamespace, onProject("get")}, Subjects: []rbacv1.Subject{user("bob")}},
	}
	if diff := cmp.Diff(want, project.ClusterGrants(p, project.MembersOf(p))); diff != "" {
		t.Errorf("GCM-PROJECT-7: ClusterGrants (-want +got):\n%s", diff)
	}
}

func TestNamespaceGrants(t *testing.T) {
	t.Parallel()
	got := project.NamespaceGrants(project.MembersOf(withMembers(member(user("ann"), "owner"), member(user("bob"), "viewer"))))
	want := []project.Grant{
		{Name: "gardener.cloud:system:project-member", Subjects: []rbacv1.Subject{user("ann")}},
		{Name: "gardener.cloud:system:project-viewer", Subjects: []rbacv1.Subject{user("bob")}},
		{Name: "gardener.cloud:system:project-serviceaccountmanager"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("GCM-PROJECT-7: every shared role is bound, also one that nobody holds yet (-want +got):\n%s", diff)
	}
}

func TestExtensionGrants(t *testing.T) {
	t.Parallel()
	p := withMembers(member(user("bob"), "extension:metering", "extension:logs"))
	grant := func(name string) project.Grant {
		return project.Grant{
			Name: "gardener.cloud:extension:project:dev:" + name,
			Aggregation: &rbacv1.AggregationRule{ClusterRoleSelectors: []metav1.LabelSelector{
				{MatchLabels: map[string]string{"rbac.gardener.cloud/aggregate-to-extension-role": name}},
			}},
			Subjects: []rbacv1.Subject{user("bob")},
		}
	}
	if diff := cmp.Diff([]project.Grant{grant("logs"), grant("metering")}, project.ExtensionGrants(p, project.MembersOf(p))); diff != "" {
		t.Errorf("GCM-PROJECT-8: ExtensionGrants, sorted by name (-want +got):\n%s", diff)
	}
}
