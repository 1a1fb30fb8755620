// SPDX-License-Identifier: Apache-2.0

package resourcesize

import (
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/apiserver/pkg/authentication/user"
)

// unrestricted reports whether no limit applies to a user (GAC-SIZE-5).
func (r *rule) unrestricted(who user.Info) bool {
	if who == nil {
		return false
	}
	namespace, name, err := serviceaccount.SplitUsername(who.GetName())
	robot := err == nil
	return slices.ContainsFunc(r.config.UnrestrictedSubjects, func(s rbacv1.Subject) bool {
		switch s.Kind {
		case rbacv1.ServiceAccountKind:
			return robot && s.Namespace == namespace && (s.Name == name || s.Name == everything)
		case rbacv1.UserKind:
			return !robot && (s.Name == who.GetName() || s.Name == everything)
		case rbacv1.GroupKind:
			return !robot && (s.Name == everything || slices.Contains(who.GetGroups(), s.Name))
		default:
			return false
		}
	})
}
