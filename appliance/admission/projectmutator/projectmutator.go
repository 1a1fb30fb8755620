// SPDX-License-Identifier: Apache-2.0

// Package projectmutator sets the creator and the owner of a Project, and makes its owner a member (API-RRM-7).
package projectmutator

import (
	"context"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/apiserver/pkg/authentication/user"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

type rule struct{ *admission.Handler }

// New returns the plugin. It uses only the Project and the user of the request.
func New(*world.World) admission.Interface {
	return &rule{Handler: admission.NewHandler(admission.Create, admission.Update)}
}

var _ admission.MutationInterface = &rule{}

// Admit sets the creator and the owner and makes the owner a member.
func (*rule) Admit(_ context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	p, ok := a.GetObject().(*gardencorev1beta1.Project)
	if !ok || a.GetSubresource() != "" || p.DeletionTimestamp != nil {
		return nil
	}
	if a.GetOperation() == admission.Create {
		creator := subjectOf(a.GetUserInfo())
		p.Spec.CreatedBy = &creator
		if p.Spec.Owner == nil {
			p.Spec.Owner = firstOwner(p.Spec.Members, creator)
		}
	}
	if p.Spec.Owner != nil {
		addOwner(p)
	}
	return nil
}

func firstOwner(members []gardencorev1beta1.ProjectMember, creator rbacv1.Subject) *rbacv1.Subject {
	for _, m := range members {
		if m.Role == gardencorev1beta1.ProjectMemberOwner || slices.Contains(m.Roles, gardencorev1beta1.ProjectMemberOwner) {
			return &m.Subject
		}
	}
	return &creator
}

func addOwner(p *gardencorev1beta1.Project) {
	if slices.ContainsFunc(p.Spec.Members, func(m gardencorev1beta1.ProjectMember) bool { return m.Subject == *p.Spec.Owner }) {
		return
	}
	p.Spec.Members = append(p.Spec.Members, gardencorev1beta1.ProjectMember{
		Subject: *p.Spec.Owner,
		Role:    gardencorev1beta1.ProjectMemberAdmin,
		Roles:   []string{gardencorev1beta1.ProjectMemberOwner},
	})
}

func subjectOf(u user.Info) rbacv1.Subject {
	if namespace, name, err := serviceaccount.SplitUsername(u.GetName()); err == nil {
		return rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: name}
	}
	return rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: u.GetName()}
}
