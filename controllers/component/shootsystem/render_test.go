// SPDX-License-Identifier: Apache-2.0

package shootsystem_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/component/shootsystem"
	"github.com/terrarium-garden/terrarium/tests/golden"
)

func render(t *testing.T) []client.Object {
	t.Helper()
	shoot := &gardencorev1beta1.Shoot{}
	shoot.Name, shoot.Spec.Region, shoot.Spec.Kubernetes.Version, shoot.Spec.Provider.Type = "a", "local", "1.36.3", "local"
	shoot.Spec.DNS = &gardencorev1beta1.DNS{Domain: new("a.example.com")}
	shoot.Spec.Networking = &gardencorev1beta1.Networking{Nodes: new("10.99.0.0/16"), Pods: new("10.100.0.0/16"), Services: new("10.101.0.0/16")}
	shoot.Spec.Maintenance = &gardencorev1beta1.Maintenance{
		TimeWindow: &gardencorev1beta1.MaintenanceTimeWindow{Begin: "220000+0100", End: "230000+0100"},
	}
	objs, err := shootsystem.Component().Render(facts.Shoot{
		Shoot: shoot, Project: "dev", ClusterIdentity: "shoot--dev--a-4d3a0b0e-garden", Hosts: facts.Hosts{External: "api.a.example.com"},
	}, &component.Inputs{})
	if err != nil {
		t.Fatal(err)
	}
	return objs
}

func TestRender(t *testing.T) {
	t.Parallel()
	golden.Objects(t, "default.yaml", render(t))
}

func TestViewersReadNoSecrets(t *testing.T) {
	t.Parallel()
	var readable []string
	for _, obj := range render(t) {
		role, ok := obj.(*rbacv1.ClusterRole)
		if !ok {
			continue
		}
		for _, rule := range role.Rules {
			for _, group := range rule.APIGroups {
				for _, resource := range rule.Resources {
					if (group == "" || group == "*") && (resource == "secrets" || resource == "*") {
						readable = append(readable, role.Name+" "+group+"/"+resource)
					}
				}
			}
		}
	}
	if diff := cmp.Diff([]string(nil), readable); diff != "" {
		t.Errorf("roles that let viewers read secrets (-want +got):\n%s", diff)
	}
}
