// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/validate/content"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/terrarium-garden/terrarium/apis/check"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

const (
	maxProjectName   = 10
	maxExtensionRole = 20

	// The members of a project are subjects of roles of the whole garden, which each request of everybody is compared with. Far fewer are
	// people; a group can be a member, too.
	maxMembers = 1000
)

// ValidateProject checks a new Project (API-VALPROJ-1 to 4, API-NAME-2, API-NAME-8).
func ValidateProject(p *gardencorev1beta1.Project) field.ErrorList {
	errs := metadata(p, false, apivalidation.NameIsDNSSubdomain)
	path := field.NewPath("metadata", "name")
	if len(p.Name) > maxProjectName {
		errs = append(errs, field.TooLong(path, p.Name, maxProjectName))
	}
	errs = append(errs, noDoubleHyphen(p.Name, path)...)
	errs = append(errs, memberBounds(p.Spec.Members, nil)...)
	return append(errs, projectSpec(&p.Spec, field.NewPath("spec"))...)
}

// ValidateProjectUpdate checks an updated Project (API-VALPROJ-3).
func ValidateProjectUpdate(p, old *gardencorev1beta1.Project) field.ErrorList {
	path := field.NewPath("spec")
	errs := metadataUpdate(p, old)
	errs = append(errs, immutableOnceSet(p.Spec.CreatedBy, old.Spec.CreatedBy, path.Child("createdBy"))...)
	errs = append(errs, immutableOnceSet(p.Spec.Namespace, old.Spec.Namespace, path.Child("namespace"))...)
	if old.Spec.Owner != nil && p.Spec.Owner == nil {
		errs = append(errs, field.Invalid(path.Child("owner"), "", "the owner can be changed but not removed"))
	}
	// What is stored was valid once, and a project must be able to lose its finalizer.
	if check.Equal(&p.Spec, &old.Spec) {
		return errs
	}
	errs = append(errs, memberBounds(p.Spec.Members, old.Spec.Members)...)
	return append(errs, projectSpec(&p.Spec, path)...)
}

// ValidateProjectStatusUpdate checks a new status of a Project (API-VALPROJ-5).
func ValidateProjectStatusUpdate(p, old *gardencorev1beta1.Project) field.ErrorList {
	if old.Status.Phase != "" && p.Status.Phase == "" {
		return field.ErrorList{field.Invalid(field.NewPath("status", "phase"), "", "cannot become empty again")}
	}
	return nil
}

func projectSpec(s *gardencorev1beta1.ProjectSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if s.Namespace != nil {
		errs = append(errs, projectNamespace(*s.Namespace, path.Child("namespace"))...)
	}
	for _, text := range []struct {
		name  string
		value *string
	}{{"description", s.Description}, {"purpose", s.Purpose}} {
		if text.value != nil && *text.value == "" {
			errs = append(errs, field.Required(path.Child(text.name), "must not be empty if it is given"))
		}
	}
	if s.Owner != nil {
		errs = append(errs, subject(*s.Owner, path.Child("owner"))...)
	}
	if s.CreatedBy != nil {
		errs = append(errs, subject(*s.CreatedBy, path.Child("createdBy"))...)
	}
	errs = append(errs, members(s.Members, path.Child("members"))...)
	errs = append(errs, dualApproval(s.DualApprovalForDeletion, path.Child("dualApprovalForDeletion"))...)
	if s.Tolerations != nil {
		errs = append(errs, projectTolerations(s.Tolerations, path.Child("tolerations"))...)
	}
	return errs
}

// dualApproval checks the rules for deletion by two users: they are for shoots, each resource occurs once, and their selectors
// are valid (API-VALPROJ-6).
func dualApproval(all []gardencorev1beta1.DualApprovalForDeletion, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	resources := make([]string, 0, len(all))
	for i := range all {
		here := path.Index(i)
		errs = append(errs, oneOfRequired(all[i].Resource, here.Child("resource"), "a resource", "shoots")...)
		errs = append(errs, metav1validation.ValidateLabelSelector(&all[i].Selector,
			metav1validation.LabelSelectorValidationOptions{}, here.Child("selector"))...)
		resources = append(resources, all[i].Resource)
	}
	return append(errs, duplicates(resources, func(i int) *field.Path { return path.Index(i).Child("resource") })...)
}

// projectNamespace checks the name of a chosen namespace: it is garden or begins with garden-, which the other namespaces of the
// garden do not (API-NAME-8).
func projectNamespace(name string, path *field.Path) field.ErrorList {
	if name == gardencorev1beta1.NamespaceGarden {
		return nil
	}
	if !strings.HasPrefix(name, gardencorev1beta1.NamespacePrefixProject) {
		return field.ErrorList{field.Invalid(path, name, `must be "garden" or begin with "garden-"`)}
	}
	return label(name, path)
}

func members(all []gardencorev1beta1.ProjectMember, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	names := make([]string, 0, len(all))
	owned := false
	for i, m := range all {
		here := path.Index(i)
		errs = append(errs, subject(m.Subject, here)...)
		errs = append(errs, accountName(m.Subject, here.Child("name"))...)
		names = append(names, identity(m.Subject))
		roles := append([]string{m.Role}, m.Roles...)
		errs = append(errs, memberRoles(roles, here)...)
		for j, role := range roles {
			if role == gardencorev1beta1.ProjectMemberOwner && owned {
				errs = append(errs, field.Forbidden(roleIn(here)(j), "at most one member can have the role owner"))
			}
			owned = owned || role == gardencorev1beta1.ProjectMemberOwner
		}
	}
	return append(errs, duplicates(names, path.Index)...)
}

// memberBounds rejects more members than a garden can carry. Those that an earlier version has accepted can become fewer.
func memberBounds(all, old []gardencorev1beta1.ProjectMember) field.ErrorList {
	if n := len(all); n > max(maxMembers, len(old)) {
		return field.ErrorList{field.TooMany(field.NewPath("spec", "members"), n, maxMembers)}
	}
	return nil
}

// roleIn returns the paths of the roles of a member; the first one is in the field role.
func roleIn(path *field.Path) func(i int) *field.Path {
	return func(i int) *field.Path {
		if i == 0 {
			return path.Child("role")
		}
		return path.Child("roles").Index(i - 1)
	}
}

// accountName checks a user that is a service account by its name: system:serviceaccount:<namespace>:<name>.
func accountName(s rbacv1.Subject, path *field.Path) field.ErrorList {
	const parts = 4
	if s.Kind != rbacv1.UserKind || !strings.HasPrefix(s.Name, "system:serviceaccount:") || strings.Count(s.Name, ":")+1 >= parts {
		return nil
	}
	return field.ErrorList{field.Invalid(path, s.Name, "must have the form system:serviceaccount:<namespace>:<name>, because it names a service account")}
}

func memberRoles(roles []string, path *field.Path) field.ErrorList {
	at := roleIn(path)
	known := []string{
		gardencorev1beta1.ProjectMemberOwner, gardencorev1beta1.ProjectMemberAdmin, gardencorev1beta1.ProjectMemberViewer,
		gardencorev1beta1.ProjectMemberUserAccessManager, gardencorev1beta1.ProjectMemberServiceAccountManager,
	}
	errs := duplicates(roles, at)
	for i, role := range roles {
		name, isExtension := strings.CutPrefix(role, gardencorev1beta1.ProjectMemberExtensionPrefix)
		switch {
		case isExtension && len(name) > maxExtensionRole:
			errs = append(errs, field.TooLong(at(i), role, maxExtensionRole))
		case isExtension:
			// The name becomes a part of the name of a ClusterRole, and the value of a label of those that it consists of.
			for _, message := range append(content.IsPathSegmentName(name), content.IsLabelValue(name)...) {
				errs = append(errs, field.Invalid(at(i), role, message))
			}
		default:
			errs = append(errs, oneOf(role, at(i), known...)...)
		}
	}
	return errs
}

// identity returns a unique form of a member: a service account can be written in two ways (API-VALPROJ-1).
func identity(s rbacv1.Subject) string {
	if s.Kind == rbacv1.ServiceAccountKind {
		return rbacv1.UserKind + "/system:serviceaccount:" + s.Namespace + ":" + s.Name
	}
	return s.Kind + "/" + s.Name
}

func subject(s rbacv1.Subject, path *field.Path) field.ErrorList {
	errs := required(s.Name, path.Child("name"), "a user, group or service account")
	switch s.Kind {
	case rbacv1.ServiceAccountKind:
		if s.Name != "" {
			for _, message := range apivalidation.ValidateServiceAccountName(s.Name, false) {
				errs = append(errs, field.Invalid(path.Child("name"), s.Name, message))
			}
		}
		if s.Namespace == "" {
			errs = append(errs, field.Required(path.Child("namespace"), "a service account needs a namespace"))
		}
		errs = append(errs, oneOf(s.APIGroup, path.Child("apiGroup"), "")...)
	case rbacv1.UserKind, rbacv1.GroupKind:
		errs = append(errs, oneOf(s.APIGroup, path.Child("apiGroup"), rbacv1.GroupName)...)
		if s.Namespace != "" {
			errs = append(errs, field.Forbidden(path.Child("namespace"), "only service accounts have a namespace"))
		}
	default:
		errs = append(errs, oneOf(s.Kind, path.Child("kind"), rbacv1.UserKind, rbacv1.GroupKind, rbacv1.ServiceAccountKind)...)
	}
	return errs
}

// projectTolerations checks that the whitelist covers the default tolerations (API-VALPROJ-4).
func projectTolerations(t *gardencorev1beta1.ProjectTolerations, path *field.Path) field.ErrorList {
	errs := tolerations(t.Defaults, path.Child("defaults"))
	errs = append(errs, tolerations(t.Whitelist, path.Child("whitelist"))...)
	for i, d := range t.Defaults {
		covered := slices.ContainsFunc(t.Whitelist, func(w gardencorev1beta1.Toleration) bool {
			return w.Key == d.Key && (w.Value == nil || deref(w.Value) == deref(d.Value))
		})
		if !covered {
			errs = append(errs, field.Forbidden(path.Child("defaults").Index(i), "must be covered by the whitelist"))
		}
	}
	return errs
}
