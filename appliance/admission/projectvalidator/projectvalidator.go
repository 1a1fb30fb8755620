// SPDX-License-Identifier: Apache-2.0

// Package projectvalidator says who made a Project and who owns it, and keeps two Projects from sharing a namespace
// (API-RRM-7, 8).
package projectvalidator

import (
	"context"
	"fmt"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/apiserver/pkg/authentication/user"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

type rule struct {
	*admission.Handler

	world *world.World
}

// New makes the rule.
func New(w *world.World) admission.Interface {
	return &rule{Handler: admission.NewHandler(admission.Create, admission.Update), world: w}
}

var (
	_ admission.ValidationInterface = &rule{}
	_ admission.MutationInterface   = &rule{}
)

// Admit notes the creator, finds an owner and makes the owner a member (API-RRM-7).
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

// Validate refuses a namespace that another project has (API-RRM-8).
func (r *rule) Validate(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	p, ok := a.GetObject().(*gardencorev1beta1.Project)
	if !ok || a.GetSubresource() != "" || p.Spec.Namespace == nil || unchanged(a, p) {
		return nil
	}
	other, err := r.world.Fresh().ProjectOf(ctx, *p.Spec.Namespace)
	if err != nil {
		return world.Answer(a, fmt.Errorf("find project of namespace %q: %w", *p.Spec.Namespace, err))
	}
	if other == nil || other.Name == p.Name {
		return nil
	}
	return world.Answer(a, fmt.Errorf("namespace %q belongs to project %q", *p.Spec.Namespace, other.Name))
}

func unchanged(a admission.Attributes, p *gardencorev1beta1.Project) bool {
	old, ok := a.GetOldObject().(*gardencorev1beta1.Project)
	return ok && old.Spec.Namespace != nil && *old.Spec.Namespace == *p.Spec.Namespace
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
