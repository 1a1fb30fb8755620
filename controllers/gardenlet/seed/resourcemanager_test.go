// SPDX-License-Identifier: Apache-2.0

package seed_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"

	"github.com/terrarium-garden/terrarium/controllers/gardenlet/seed"
)

func TestResourceManager(t *testing.T) {
	t.Parallel()
	for nodes, want := range map[int]int32{0: 1, 1: 1, 2: 2, 9: 2} {
		var deployment *appsv1.Deployment
		var kinds []string
		for _, object := range seed.ResourceManager("registry.example.org/terrarium:v1", nodes) {
			if found, ok := object.(*appsv1.Deployment); ok {
				deployment = found
			}
			kinds = append(kinds, object.GetNamespace()+"/"+object.GetName())
		}
		if diff := cmp.Diff([]string{"/gardener.cloud:system:resource-manager", "garden/gardener-resource-manager", "garden/gardener-resource-manager"}, kinds); diff != "" {
			t.Errorf("objects (-want +got):\n%s", diff)
		}
		if deployment == nil || *deployment.Spec.Replicas != want {
			t.Fatalf("%d nodes: got %+v, want %d replicas", nodes, deployment, want)
		}
		pod := deployment.Spec.Template.Spec
		if pod.Containers[0].Image != "registry.example.org/terrarium:v1" || pod.ServiceAccountName != "gardener-resource-manager" || !*pod.SecurityContext.RunAsNonRoot {
			t.Errorf("the pod is %+v", pod)
		}
		want := []string{
			"/usr/local/bin/terrarium", "resource-manager", "--lease-namespace=garden", "--cluster-id=<default>", "--health-address=:8081", "--metrics-address=:8080",
		}
		if diff := cmp.Diff(want, pod.Containers[0].Command); diff != "" {
			t.Errorf("command (-want +got):\n%s", diff)
		}
	}
}
