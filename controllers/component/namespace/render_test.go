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
	golden.Objects(t, "namespace.yaml", slices.Concat(namespace.PriorityClasses(), namespace.Render(f, false)))
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
	if diff := cmp.Diff(want, namespace.Render(f, false)[0].GetLabels()); diff != "" {
		t.Errorf("labels for a shoot without network plugin and purpose (-want +got):\n%s", diff)
	}
}

// TestZones_GLET_RECON_1 has seeds with zones, and owners who name some of them.
func TestZones_GLET_RECON_1(t *testing.T) {
	t.Parallel()
	const prefix = "high-availability-config.resources.gardener.cloud/"
	for name, tc := range map[string]struct {
		reason                    string
		ofSeed, named             []string
		anywhere                  bool
		zones, pinned, considered string
	}{
		"NoZones":  {reason: "nothing is known"},
		"Seed":     {reason: "the control plane may run in all of them", ofSeed: []string{"b", "a"}, zones: "b,a"},
		"Named":    {reason: "it is kept where its owner wants it", ofSeed: []string{"a", "b"}, named: []string{"b"}, zones: "b", pinned: "true", considered: "true"},
		"Existing": {reason: "its volumes may be in another zone", ofSeed: []string{"a", "b"}, named: []string{"b"}, anywhere: true, zones: "a,b"},
	} {
		f := facts.Shoot{Namespace: "shoot--dev--a", Shoot: &gardencorev1beta1.Shoot{}, Seed: &gardencorev1beta1.Seed{}}
		f.Shoot.Spec.ControlPlane, f.Seed.Spec.Provider.Zones = &gardencorev1beta1.ControlPlane{Zones: tc.named}, tc.ofSeed
		home := namespace.Render(f, tc.anywhere)[0]
		got := []string{home.GetAnnotations()[prefix+"zones"], home.GetAnnotations()[prefix+"zone-pinning"], home.GetLabels()[prefix+"consider"]}
		if diff := cmp.Diff([]string{tc.zones, tc.pinned, tc.considered}, got); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", name, tc.reason, diff)
		}
	}
}
