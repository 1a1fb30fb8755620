// SPDX-License-Identifier: Apache-2.0

package project

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

const (
	kindClusterRole = "ClusterRole"
	verbGet         = "get"
	verbPatch       = "patch"
	verbUpdate      = "update"
	verbDelete      = "delete"
)

// Members are the subjects of a project by the role they hold. Owners are admins as well.
type Members struct {
	// Owners, Admins, Viewers, AccessManagers and ServiceAccountManagers hold the roles of that name.
	Owners, Admins, Viewers, AccessManagers, ServiceAccountManagers []rbacv1.Subject
	// Extensions maps the name of an extension role to the subjects that hold it.
	Extensions map[string][]rbacv1.Subject
}

// Grant is a role and its subjects.
type Grant struct {
	// Name is the name of the ClusterRole and of its binding.
	Name string
	// Rules are the rules of the role, if it belongs to this project.
	Rules []rbacv1.PolicyRule
	// Aggregation collects the rules of an extension role.
	Aggregation *rbacv1.AggregationRule
	// Subjects hold the role.
	Subjects []rbacv1.Subject
}

// RoleRef points to the ClusterRole of the grant.
func (g Grant) RoleRef() rbacv1.RoleRef {
	return rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: kindClusterRole, Name: g.Name}
}

// MembersOf sorts the members of a project by their roles.
func MembersOf(project *gardencorev1beta1.Project) Members {
	members := Members{Extensions: map[string][]rbacv1.Subject{}}
	for _, member := range project.Spec.Members {
		subject := normalized(member.Subject)
		for _, role := range slices.Compact(slices.Sorted(slices.Values(append([]string{member.Role}, member.Roles...)))) {
			members.add(role, subject)
		}
	}
	return members
}

func (m *Members) add(role string, subject rbacv1.Subject) {
	switch role {
	case gardencorev1beta1.ProjectMemberOwner:
		m.Owners = with(m.Owners, subject)
		m.Admins = with(m.Admins, subject)
	case gardencorev1beta1.ProjectMemberAdmin:
		m.Admins = with(m.Admins, subject)
	case gardencorev1beta1.ProjectMemberViewer:
		m.Viewers = with(m.Viewers, subject)
	case gardencorev1beta1.ProjectMemberUserAccessManager:
		m.AccessManagers = with(m.AccessManagers, subject)
	case gardencorev1beta1.ProjectMemberServiceAccountManager:
		m.ServiceAccountManagers = with(m.ServiceAccountManagers, subject)
	default:
		if name, found := strings.CutPrefix(role, gardencorev1beta1.ProjectMemberExtensionPrefix); found {
			m.Extensions[name] = with(m.Extensions[name], subject)
		}
	}
}

func with(subjects []rbacv1.Subject, subject rbacv1.Subject) []rbacv1.Subject {
	if slices.Contains(subjects, subject) {
		return subjects
	}
	return append(subjects, subject)
}

// normalized sets the API group as the server would, so that an unchanged binding compares equal.
func normalized(subject rbacv1.Subject) rbacv1.Subject {
	if subject.Kind == rbacv1.ServiceAccountKind {
		subject.APIGroup = ""
		return subject
	}
	subject.APIGroup = rbacv1.GroupName
	subject.Namespace = ""
	return subject
}

// ClusterGrants are the roles that a project has of its own: what its members may do with the Project and Namespace
// objects (GCM-PROJECT-7).
func ClusterGrants(project *gardencorev1beta1.Project, members Members) []Grant {
	onNamespace := rbacv1.PolicyRule{
		APIGroups: []string{corev1.GroupName}, Resources: []string{"namespaces"}, ResourceNames: []string{*project.Spec.Namespace}, Verbs: []string{verbGet},
	}
	onProject := func(verbs ...string) rbacv1.PolicyRule {
		return rbacv1.PolicyRule{
			APIGroups: []string{gardencorev1beta1.GroupName}, Resources: []string{"projects"}, ResourceNames: []string{project.Name}, Verbs: verbs,
		}
	}
	return []Grant{
		{
			Name:     gardencorev1beta1.ClusterRolePrefixProjectOwner + project.Name,
			Rules:    []rbacv1.PolicyRule{onNamespace, onProject(verbGet, verbPatch, gardencorev1beta1.VerbManageMembers, verbUpdate, verbDelete)},
			Subjects: members.Owners,
		},
		{
			Name:     gardencorev1beta1.ClusterRolePrefixProjectUserAccessManager + project.Name,
			Rules:    []rbacv1.PolicyRule{onProject(verbGet, gardencorev1beta1.VerbManageMembers, verbPatch, verbUpdate)},
			Subjects: members.AccessManagers,
		},
		{
			Name:     gardencorev1beta1.ClusterRolePrefixProjectMember + project.Name,
			Rules:    []rbacv1.PolicyRule{onNamespace, onProject(verbGet, verbPatch, verbUpdate, verbDelete)},
			Subjects: members.Admins,
		},
		{
			Name:     gardencorev1beta1.ClusterRolePrefixProjectViewer + project.Name,
			Rules:    []rbacv1.PolicyRule{onNamespace, onProject(verbGet)},
			Subjects: members.Viewers,
		},
	}
}

// NamespaceGrants bind the roles that all projects share in the namespace of one (GCM-PROJECT-7).
func NamespaceGrants(members Members) []Grant {
	return []Grant{
		{Name: gardencorev1beta1.ClusterRoleProjectMember, Subjects: members.Admins},
		{Name: gardencorev1beta1.ClusterRoleProjectViewer, Subjects: members.Viewers},
		{Name: gardencorev1beta1.ClusterRoleProjectServiceAccountManager, Subjects: members.ServiceAccountManagers},
	}
}

// ExtensionGrants are the roles that extensions define and members hold (GCM-PROJECT-8), sorted by name.
func ExtensionGrants(project *gardencorev1beta1.Project, members Members) []Grant {
	names := slices.Sorted(maps.Keys(members.Extensions))
	grants := make([]Grant, 0, len(names))
	for _, name := range names {
		grants = append(grants, Grant{
			Name: gardencorev1beta1.ClusterRolePrefixProjectExtension + project.Name + ":" + name,
			Aggregation: &rbacv1.AggregationRule{ClusterRoleSelectors: []metav1.LabelSelector{
				{MatchLabels: map[string]string{gardencorev1beta1.LabelAggregateToExtensionRole: name}},
			}},
			Subjects: members.Extensions[name],
		})
	}
	return grants
}
