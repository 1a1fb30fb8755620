// SPDX-License-Identifier: Apache-2.0

package namespace_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/component/namespace"
	"github.com/terrarium-garden/terrarium/tests/golden"
)

func TestRender(t *testing.T) {
	t.Parallel()
	f := facts.Shoot{Namespace: "shoot--dev--a", Shoot: &gardencorev1beta1.Shoot{}, Seed: &gardencorev1beta1.Seed{}}
	f.Shoot.Status.UID, f.Shoot.Spec.Provider.Type, f.Seed.Spec.Provider.Type = "4d3a0b0e-6a5c-4f0e-9a1e-0d8f6d0c5b1a", "local", "local"
	f.Shoot.Spec.Networking, f.Shoot.Spec.Purpose = &gardencorev1beta1.Networking{Type: new("local")}, new(gardencorev1beta1.ShootPurposeEvaluation)
	golden.Objects(t, "namespace.yaml", slices.Concat(namespace.PriorityClasses(), namespace.Render(f)))
}

func TestLabelsThatNeedNotExist(t *testing.T) {
	t.Parallel()
	f := facts.Shoot{Namespace: "shoot--dev--a", Shoot: &gardencorev1beta1.Shoot{}, Seed: &gardencorev1beta1.Seed{}}
	f.Shoot.Status.UID, f.Shoot.Spec.Provider.Type, f.Seed.Spec.Provider.Type = "u", "local", "stack"
	f.Shoot.Spec.Networking = &gardencorev1beta1.Networking{Type: new("")}
	want := map[string]string{
		"gardener.cloud/role": "shoot", "seed.gardener.cloud/provider": "stack", "shoot.gardener.cloud/provider": "local",
		"provider.shoot.gardener.cloud/local": "true", "shoot.gardener.cloud/uid": "u",
	}
	if diff := cmp.Diff(want, namespace.Render(f)[0].GetLabels()); diff != "" {
		t.Errorf("labels for a shoot without network plugin and purpose (-want +got):\n%s", diff)
	}
}
