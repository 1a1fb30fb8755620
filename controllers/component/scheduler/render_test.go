// SPDX-License-Identifier: Apache-2.0

package scheduler_test

import (
	"errors"
	"testing"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/component/scheduler"
	"github.com/terrarium-garden/terrarium/tests/golden"
)

func TestRender(t *testing.T) {
	t.Parallel()
	for name, settings := range map[string]*gardencorev1beta1.KubeSchedulerConfig{
		"default.yaml": nil,
		"bin-packing.yaml": {
			KubernetesConfig: gardencorev1beta1.KubernetesConfig{FeatureGates: map[string]bool{"A": true}},
			Profile:          new(gardencorev1beta1.SchedulingProfileBinPacking),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := facts.Shoot{Namespace: "shoot--dev--a", Shoot: &gardencorev1beta1.Shoot{}}
			f.Shoot.Spec.Kubernetes.KubeScheduler = settings
			in := &component.Inputs{
				Replicas: 1, Images: map[string]string{"kube-scheduler": "registry.k8s.io/kube-scheduler:v1.36.3"},
				Secrets: map[string]component.Secret{"ca": {Bundle: "ca-bundle-66666666"}, "kube-scheduler": {Name: "kube-scheduler-11111111"}},
			}
			objs, err := scheduler.Component().Render(f, in)
			if err := errors.Join(err, in.Missing()); err != nil {
				t.Fatal(err)
			}
			golden.Objects(t, name, objs)
		})
	}
}
