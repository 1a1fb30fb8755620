// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
)

// TestProjectRolesAddUp_EXT_CONV_5: extensions add to the roles of project members with labels that their documents name. What the garden itself
// gives has the same labels.
func TestProjectRolesAddUp_EXT_CONV_5(t *testing.T) {
	t.Parallel()
	const prefix = "rbac.gardener.cloud/aggregate-to-project-"
	sums, own := map[string][]string{}, map[string]string{}
	for _, o := range projectRoles() {
		role, ok := o.value.(*rbacv1.ClusterRole)
		if !ok {
			t.Fatalf("%T is no ClusterRole", o.value)
		}
		if role.AggregationRule == nil {
			maps.Copy(own, role.Labels)
			continue
		}
		if len(role.Rules) > 0 {
			t.Errorf("%q has rules, which aggregation replaces", role.Name)
		}
		for _, selector := range role.AggregationRule.ClusterRoleSelectors {
			for label, value := range selector.MatchLabels {
				sums[role.Name] = append(sums[role.Name], label+"="+value)
			}
		}
	}
	want := map[string][]string{
		"gardener.cloud:system:project-member":                {prefix + "member=true"},
		"gardener.cloud:system:project-viewer":                {prefix + "viewer=true"},
		"gardener.cloud:system:project-serviceaccountmanager": {prefix + "serviceaccountmanager=true"},
	}
	if diff := cmp.Diff(want, sums); diff != "" {
		t.Errorf("labels that add to roles (-want +got):\n%s", diff)
	}
	labels := map[string]string{prefix + "member": "true", prefix + "viewer": "true", prefix + "serviceaccountmanager": "true"}
	if diff := cmp.Diff(labels, own); diff != "" {
		t.Errorf("labels of what the garden itself gives (-want +got):\n%s", diff)
	}
}
