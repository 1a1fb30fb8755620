// SPDX-License-Identifier: Apache-2.0

package scheduler_test

import (
	"testing"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/golden"
	"github.com/terrarium-garden/terrarium/controllers/component/scheduler"
)

func TestRender(t *testing.T) {
	t.Parallel()
	base := scheduler.Values{
		Namespace: "shoot--dev--a", Image: "registry.k8s.io/kube-scheduler:v1.36.3", Replicas: 1,
		Access: component.Access{Server: "https://10.97.0.9", CABundleSecret: "ca-bundle-66666666", ClientSecret: "kube-scheduler-11111111"},
	}
	packing := base
	packing.Settings = &gardencorev1beta1.KubeSchedulerConfig{
		KubernetesConfig: gardencorev1beta1.KubernetesConfig{FeatureGates: map[string]bool{"A": true}},
		Profile:          new(gardencorev1beta1.SchedulingProfileBinPacking),
	}
	for name, values := range map[string]scheduler.Values{"default.yaml": base, "bin-packing.yaml": packing} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			objs, err := scheduler.Render(values)
			if err != nil {
				t.Fatal(err)
			}
			golden.Objects(t, name, objs)
		})
	}
}
