// SPDX-License-Identifier: Apache-2.0

package project

import (
	"slices"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/terrarium-garden/terrarium/apis/check"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/core/validation"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
	"github.com/terrarium-garden/terrarium/storage/registry/kind/cell"
)

func rules() kind.Rules[*gardencorev1beta1.Project] {
	return kind.Rules[*gardencorev1beta1.Project]{
		Names: kind.Names{
			GroupVersion: gardencorev1beta1.GroupVersion,
			Plural:       "projects",
			Singular:     "project",
		},
		New:           func() *gardencorev1beta1.Project { return &gardencorev1beta1.Project{} },
		NewList:       func() runtime.Object { return &gardencorev1beta1.ProjectList{} },
		Unconditional: true,
		Generation:    true,
		SpecChanged: func(obj, old *gardencorev1beta1.Project) bool {
			return !check.Same(obj.Spec, old.Spec)
		},
		Canonicalize:   ownerRole,
		Validate:       validation.ValidateProject,
		ValidateUpdate: validation.ValidateProjectUpdate,
		Fields: func(o *gardencorev1beta1.Project) fields.Set {
			return fields.Set{gardencorev1beta1.FieldProjectNamespace: cell.Or(o.Spec.Namespace, "")}
		},
		Indexes: []string{gardencorev1beta1.FieldProjectNamespace},
		Columns: columns(),
		Status:  status(),
	}
}

// ownerRole adds the role owner to the member that is the owner and removes it from all others (API-STRAT-11).
func ownerRole(p *gardencorev1beta1.Project) {
	for i := range p.Spec.Members {
		m := &p.Spec.Members[i]
		owns := p.Spec.Owner != nil && m.Subject == *p.Spec.Owner
		has := m.Role == gardencorev1beta1.ProjectMemberOwner || slices.Contains(m.Roles, gardencorev1beta1.ProjectMemberOwner)
		switch {
		case owns && !has:
			m.Roles = append(m.Roles, gardencorev1beta1.ProjectMemberOwner)
		case !owns && has:
			dropOwner(m)
		}
	}
}

// dropOwner removes the role owner from a member. Its first role is then the first of its further roles, or viewer (API-DEF-13).
func dropOwner(m *gardencorev1beta1.ProjectMember) {
	m.Roles = slices.DeleteFunc(m.Roles, func(role string) bool { return role == gardencorev1beta1.ProjectMemberOwner })
	if m.Role != gardencorev1beta1.ProjectMemberOwner {
		return
	}
	m.Role = gardencorev1beta1.ProjectMemberViewer
	if len(m.Roles) > 0 {
		m.Role, m.Roles = m.Roles[0], m.Roles[1:]
	}
}

func columns() []kind.Column[*gardencorev1beta1.Project] {
	return []kind.Column[*gardencorev1beta1.Project]{
		{Name: "Namespace", Cell: func(o *gardencorev1beta1.Project) string { return cell.Or(o.Spec.Namespace, cell.Unknown) }},
		{Name: "Status", Cell: func(o *gardencorev1beta1.Project) string {
			return cell.Or(&o.Status.Phase, gardencorev1beta1.ProjectPhase(cell.Unknown))
		}},
		{Name: "Owner", Cell: func(o *gardencorev1beta1.Project) string { return cell.Subject(o.Spec.Owner) }},
		{Name: "Creator", Cell: func(o *gardencorev1beta1.Project) string { return cell.Subject(o.Spec.CreatedBy) }},
	}
}

func status() *kind.StatusRules[*gardencorev1beta1.Project] {
	return &kind.StatusRules[*gardencorev1beta1.Project]{
		Reset:    func(obj, old *gardencorev1beta1.Project) { obj.Status = old.Status },
		KeepSpec: func(obj, old *gardencorev1beta1.Project) { obj.Spec = old.Spec },
		Validate: validation.ValidateProjectStatusUpdate,
	}
}
