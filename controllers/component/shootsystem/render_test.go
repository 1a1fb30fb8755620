// SPDX-License-Identifier: Apache-2.0

package shootsystem_test

import (
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/terrarium-garden/terrarium/controllers/component/golden"
	"github.com/terrarium-garden/terrarium/controllers/component/shootsystem"
)

func values() shootsystem.Values {
	return shootsystem.Values{
		KubeletClientUser: "system:kube-apiserver:kubelet", ClusterIdentity: "shoot--dev--a-4d3a0b0e-garden",
		Info: map[string]string{"projectName": "dev", "shootName": "a"},
	}
}

func TestRender(t *testing.T) {
	t.Parallel()
	golden.Objects(t, "default.yaml", shootsystem.Render(values()))
}

func TestViewersReadNoSecrets(t *testing.T) {
	t.Parallel()
	for _, obj := range shootsystem.Render(values()) {
		role, ok := obj.(*rbacv1.ClusterRole)
		if !ok {
			continue
		}
		for _, rule := range role.Rules {
			for _, group := range rule.APIGroups {
				for _, resource := range rule.Resources {
					if (group == "" || group == "*") && (resource == "secrets" || resource == "*") {
						t.Errorf("role %q lets viewers read %s of group %q", role.Name, resource, group)
					}
				}
			}
		}
	}
}
