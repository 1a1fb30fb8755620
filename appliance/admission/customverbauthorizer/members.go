// SPDX-License-Identifier: Apache-2.0

package customverbauthorizer

import (
	"maps"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/apiserver/pkg/authentication/user"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// membersChange tells whether somebody other than the owner changes who works in a project (API-CVA-2). Who creates a
// project decides about the first owner; from then on that owner does.
func membersChange(p, old *gardencorev1beta1.Project, who user.Info) bool {
	owner := p.Spec.Owner
	if old != nil {
		owner = old.Spec.Owner
	}
	if owner == nil || is(who, *owner) {
		return false
	}
	if old == nil {
		return len(humans(p, p.Spec.Owner)) > 0
	}
	moved := p.Spec.Owner == nil || *p.Spec.Owner != *old.Spec.Owner
	return moved || !maps.EqualFunc(humans(p, p.Spec.Owner), humans(old, p.Spec.Owner), slices.Equal[[]string])
}

// humans maps the members that are people to their sorted roles, without the owner, whose entry may always be added.
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

// robot tells whether a subject is a service account, in whichever of its two spellings.
func robot(s rbacv1.Subject) bool {
	return s.Kind == rbacv1.ServiceAccountKind ||
		s.Kind == rbacv1.UserKind && strings.HasPrefix(s.Name, serviceaccount.ServiceAccountUsernamePrefix)
}

// is tells whether a user is the subject, or belongs to it.
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
