// SPDX-License-Identifier: Apache-2.0

package integration_test

import (
	"testing"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1 "github.com/terrarium-garden/terrarium/apis/core/v1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// TestReferencesOfOperators protects what seeds and controller deployments refer to in the namespace garden. An object is released
// when nothing refers to it, no matter which of the two is the last to let it go.
func TestReferencesOfOperators(t *testing.T) {
	t.Parallel()
	o := operate(t)
	o.provider("cloud")
	const finalizer = "gardener.cloud/reference-protection"
	shared, settings := &corev1.Secret{ObjectMeta: named("garden", "shared")}, &corev1.ConfigMap{ObjectMeta: named("garden", "settings")}
	o.create(shared, settings)
	to := func(kind, name string) autoscalingv1.CrossVersionObjectReference {
		return autoscalingv1.CrossVersionObjectReference{APIVersion: "v1", Kind: kind, Name: name}
	}
	deployed := &gardencorev1.ControllerDeployment{
		ObjectMeta: named("", "extension"), Helm: &gardencorev1.HelmControllerDeployment{RawChart: []byte("chart")},
		Resources: []gardencorev1.NamedResourceReference{{Name: "a", ResourceRef: to("Secret", "shared")}, {Name: "b", ResourceRef: to("ConfigMap", "settings")}},
	}
	o.create(deployed)
	seed := o.seed("north", "cloud", "north", func(s *gardencorev1beta1.Seed) {
		s.Spec.Resources = []gardencorev1beta1.NamedResourceReference{{Name: "a", ResourceRef: to("Secret", "shared")}}
	})
	held(o, seed, finalizer, "GCM-SEEDREF-1: a seed that refers to objects is held until they are released")
	held(o, deployed, finalizer, "GCM-CONTROLLERDEPLOYMENT-2: so is a deployment")
	held(o, settings, finalizer, "GCM-CONTROLLERDEPLOYMENT-2: what a deployment refers to is protected")
	held(o, shared, finalizer, "GCM-SEEDREF-1: what a seed refers to is protected")

	o.delete(shared)
	o.change(deployed, func() { deployed.Resources = deployed.Resources[:1] })
	o.delete(settings)
	o.gone(settings, "GCM-CONTROLLERDEPLOYMENT-2: what the deployment does not refer to any more is released")
	o.delete(deployed)
	o.gone(deployed, "GCM-CONTROLLERDEPLOYMENT-2: a deployment goes when it has released what it refers to")
	for _, object := range []client.Object{seed, shared} {
		o.read(object)
	}
	o.change(seed, func() { seed.Spec.Resources = nil })
	o.gone(shared, "GCM-SEEDREF-1: an object is released with its last reference")
}
