// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
)

// SetDefaultsProject fills in API groups of subjects, roles of members and, for the garden's own project, the
// toleration of protected seeds (API-DEF-3, API-DEF-13).
func SetDefaultsProject(p *Project) {
	defaultSubject(p.Spec.Owner)
	defaultSubject(p.Spec.CreatedBy)
	for i := range p.Spec.Members {
		m := &p.Spec.Members[i]
		defaultSubject(&m.Subject)
		if m.Role == "" && len(m.Roles) > 0 {
			m.Role, m.Roles = m.Roles[0], m.Roles[1:]
		}
		if m.Role == "" {
			m.Role = ProjectMemberViewer
		}
	}
	if p.Spec.Namespace == nil || *p.Spec.Namespace != NamespaceGarden {
		return
	}
	t := ensure(&p.Spec.Tolerations)
	t.Defaults = tolerateProtected(t.Defaults)
	t.Whitelist = tolerateProtected(t.Whitelist)
}

func defaultSubject(s *rbacv1.Subject) {
	if s != nil && s.APIGroup == "" && (s.Kind == rbacv1.UserKind || s.Kind == rbacv1.GroupKind) {
		s.APIGroup = rbacv1.GroupName
	}
}

func tolerateProtected(all []Toleration) []Toleration {
	if slices.ContainsFunc(all, func(t Toleration) bool { return t.Key == TaintSeedProtected }) {
		return all
	}
	return append(all, Toleration{Key: TaintSeedProtected})
}
