// SPDX-License-Identifier: Apache-2.0

package scheduler_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

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

func TestVolumesOfNodes(t *testing.T) {
	t.Parallel()
	for most, want := range map[string][]corev1.EnvVar{"": nil, "16": {{Name: "KUBE_MAX_PD_VOLS", Value: "16"}}} {
		shoot := &gardencorev1beta1.Shoot{}
		shoot.Spec.Kubernetes.KubeScheduler = &gardencorev1beta1.KubeSchedulerConfig{KubeMaxPDVols: &most}
		objs, err := scheduler.Component().Render(facts.Shoot{Shoot: shoot, Namespace: "shoot--dev--a"}, &component.Inputs{})
		if err != nil {
			t.Fatal(err)
		}
		for _, obj := range objs {
			if d, ok := obj.(*appsv1.Deployment); ok && !cmp.Equal(want, d.Spec.Template.Spec.Containers[0].Env) {
				t.Errorf("%q: environment %v, want %v", most, d.Spec.Template.Spec.Containers[0].Env, want)
			}
		}
	}
}
