// SPDX-License-Identifier: Apache-2.0

package customverbauthorizer

import (
	"maps"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/apiserver/pkg/authentication/user"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// membersChange reports whether a user other than the owner changes the members of a project, or gives a service account a
// role with which its users can. The creator of a project chooses the first owner; from then on, the owner decides
// (API-CVA-2).
func membersChange(p, old *gardencorev1beta1.Project, who user.Info) bool {
	if old == nil {
		owner := p.Spec.Owner
		return owner != nil && !is(who, *owner) && (len(humans(p, owner)) > 0 || climbs(p, &gardencorev1beta1.Project{}))
	}
	if owns(who, old) {
		return false
	}
	moved := p.Spec.Owner == nil || *p.Spec.Owner != *old.Spec.Owner
	return moved || climbs(p, old) || !maps.EqualFunc(humans(p, p.Spec.Owner), humans(old, p.Spec.Owner), slices.Equal[[]string])
}

// approvalChanges reports whether a user other than the owner changes the rules for deletion by two users.
func approvalChanges(p, old *gardencorev1beta1.Project, who user.Info) bool {
	return old != nil && !owns(who, old) &&
		!equality.Semantic.DeepEqual(p.Spec.DualApprovalForDeletion, old.Spec.DualApprovalForDeletion)
}

// owns reports whether a user may change members without the permission: the owner may, and every user while there is no owner.
func owns(who user.Info, p *gardencorev1beta1.Project) bool {
	return p.Spec.Owner == nil || is(who, *p.Spec.Owner)
}

// climbs reports whether a service account gets a role with which its users could change members, or could get tokens of
// service accounts that can.
func climbs(p, old *gardencorev1beta1.Project) bool {
	before := powers(old)
	for robot, roles := range powers(p) {
		for _, role := range roles {
			if !slices.Contains(before[robot], role) {
				return true
			}
		}
	}
	return false
}

// powers maps service accounts to those of their roles that cannot be given without the permission.
func powers(p *gardencorev1beta1.Project) map[string][]string {
	powerful := []string{
		gardencorev1beta1.ProjectMemberOwner, gardencorev1beta1.ProjectMemberUserAccessManager,
		gardencorev1beta1.ProjectMemberServiceAccountManager,
	}
	all := map[string][]string{}
	for _, m := range p.Spec.Members {
		if !robot(m.Subject) {
			continue
		}
		name := m.Name
		if m.Kind == rbacv1.ServiceAccountKind {
			name = serviceaccount.MakeUsername(m.Namespace, m.Name)
		}
		for _, role := range append([]string{m.Role}, m.Roles...) {
			if slices.Contains(powerful, role) {
				all[name] = append(all[name], role)
			}
		}
	}
	return all
}

// humans maps the members that are not service accounts to their sorted roles, without the owner, whose entry can always be
// added.
func humans(p *gardencorev1beta1.Project, owner *rbacv1.Subject) map[string][]string {
	all := map[string][]string{}
	for _, m := range p.Spec.Members {
		if robot(m.Subject) || owner != nil && m.Subject == *owner {
			continue
		}
		all[m.Kind+"/"+m.Name] = slices.Sorted(slices.Values(append([]string{m.Role}, m.Roles...)))
	}
	return all
}

// robot reports whether a subject is a service account, in either of its two forms.
func robot(s rbacv1.Subject) bool {
	return s.Kind == rbacv1.ServiceAccountKind ||
		s.Kind == rbacv1.UserKind && strings.HasPrefix(s.Name, serviceaccount.ServiceAccountUsernamePrefix)
}

// is reports whether a user is the subject or a member of it.
func is(who user.Info, s rbacv1.Subject) bool {
	switch s.Kind {
	case rbacv1.UserKind:
		return who.GetName() == s.Name
	case rbacv1.GroupKind:
		return slices.Contains(who.GetGroups(), s.Name)
	case rbacv1.ServiceAccountKind:
		return who.GetName() == serviceaccount.MakeUsername(s.Namespace, s.Name)
	default:
		return false
	}
}
