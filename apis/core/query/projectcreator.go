// SPDX-License-Identifier: Apache-2.0

package query

import (
	rbacv1 "k8s.io/api/rbac/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// ProjectCreatedApart is the value of AnnotationProjectCreatedFor of a project that counts for itself: one user without a limit, such as an
// automation, may create the projects of many teams, which must not take each other's places. It is the name of no user.
const ProjectCreatedApart = "system:serviceaccounts"

// ProjectCreator is the name of the user who has created a project; empty if nobody knows.
func ProjectCreator(p *gardencorev1beta1.Project) string {
	switch by := p.Spec.CreatedBy; {
	case by == nil:
		return ""
	case by.Kind == rbacv1.ServiceAccountKind:
		return "system:serviceaccount:" + by.Namespace + ":" + by.Name
	default:
		return by.Name
	}
}

// ProjectPerson is the user for whom a project was created, by himself or by a service account in one of his projects. It is empty if nobody
// knows, and for a project that counts for itself.
func ProjectPerson(p *gardencorev1beta1.Project) string {
	switch person := p.Annotations[gardencorev1beta1.AnnotationProjectCreatedFor]; person {
	case "":
		return ProjectCreator(p)
	case ProjectCreatedApart:
		return ""
	default:
		return person
	}
}
