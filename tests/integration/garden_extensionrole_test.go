// SPDX-License-Identifier: Apache-2.0

package integration_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// partOf is a ClusterRole with which an extension adds to the role of members that has its name.
func partOf(role string) *rbacv1.ClusterRole {
	labels := map[string]string{"rbac.gardener.cloud/aggregate-to-extension-role": role}

	return &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "part-of-" + role, Labels: labels}}
}

// TestExtensionRolesAreDefined has the owner of a project give its members many roles of extensions, which exist or not (GCM-PROJECT-8).
func TestExtensionRolesAreDefined(t *testing.T) {
	t.Parallel()
	o := operate(t)
	rose := member("rose", "viewer")
	for i := range 200 {
		rose.Roles = append(rose.Roles, fmt.Sprint("extension:", i))
	}
	part := partOf("1")
	o.create(part)
	project := &gardencorev1beta1.Project{ObjectMeta: metav1.ObjectMeta{Name: "roles"}, Spec: gardencorev1beta1.ProjectSpec{Members: []gardencorev1beta1.ProjectMember{rose}}}
	if err := o.as("mallory").Create(t.Context(), project); err != nil {
		t.Fatal(err)
	}
	o.phase(project, gardencorev1beta1.ProjectPhaseReady)
	bound := func(want ...string) {
		t.Helper()
		harness.Eventually(t, fmt.Sprintf("the roles %q are there, and no others", want), func(ctx context.Context) error {
			roles, bindings := &rbacv1.ClusterRoleList{}, &rbacv1.RoleBindingList{}
			ofProject := client.MatchingLabels{"project.gardener.cloud/name": "roles", "gardener.cloud/role": "extension-project-role"}
			if err := errors.Join(o.Client.List(ctx, roles, ofProject), o.Client.List(ctx, bindings, ofProject)); err != nil {
				return err
			}
			var found []string
			for _, r := range roles.Items {
				found = append(found, strings.TrimPrefix(r.Name, "gardener.cloud:extension:project:roles:"))
			}
			return has(slices.Equal(found, want) && len(bindings.Items) == len(want), "%q, with %d bindings", found, len(bindings.Items))
		})
	}
	bound("1")
	later := partOf("2")
	o.create(later)
	bound("1", "2")
	o.change(part, func() { part.Labels = nil })
	bound("2")
	o.delete(later)
	bound()
}
