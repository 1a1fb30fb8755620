// SPDX-License-Identifier: Apache-2.0

package controllerinstallation_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/controllerinstallation"
)

func TestValues(t *testing.T) {
	t.Parallel()
	seed := &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: "one", Labels: map[string]string{"climate": "mild"}}}
	seed.Spec.Provider = gardencorev1beta1.SeedProvider{Type: "local", Region: "north"}
	seed.Spec.Networks = gardencorev1beta1.SeedNetworks{Pods: "10.1.0.0/16", Services: "10.2.0.0/16", BlockCIDRs: []string{"169.254.169.254/32"}}
	seed.Spec.Taints = []gardencorev1beta1.SeedTaint{{Key: "seed.gardener.cloud/protected"}}
	seed.Spec.Ingress = &gardencorev1beta1.Ingress{Domain: "ingress.example.org"}
	seed.Spec.Volume = &gardencorev1beta1.SeedVolume{Providers: []gardencorev1beta1.SeedVolumeProvider{{Name: "fast", Purpose: "etcd-main"}}}
	seed.Spec.Settings = &gardencorev1beta1.SeedSettings{Scheduling: &gardencorev1beta1.SeedSettingScheduling{Visible: false}}
	seed.Status.ClusterIdentity = new("seed-identity")
	own := map[string]any{"colour": "green", "gardener": map[string]any{"version": "mine", "extra": "kept", "seed": map[string]any{"name": "mine", "mine": true}}}

	got, err := controllerinstallation.Values(own, controllerinstallation.Facts{
		Version: "v1.149.0", GardenIdentity: "garden-identity", FeatureGates: map[string]bool{"Magic": true}, Seed: seed,
	})
	if err != nil {
		t.Fatalf("Values(...): %v", err)
	}
	networks := map[string]any{"pods": "10.1.0.0/16", "services": "10.2.0.0/16", "blockCIDRs": []any{"169.254.169.254/32"}}
	taints := []any{map[string]any{"key": "seed.gardener.cloud/protected"}}
	volumes := []any{map[string]any{"name": "fast", "purpose": "etcd-main"}}
	want := map[string]any{
		"colour": "green",
		"gardener": map[string]any{
			"version":   "v1.149.0",
			"extra":     "kept",
			"garden":    map[string]any{"clusterIdentity": "garden-identity"},
			"gardenlet": map[string]any{"featureGates": map[string]any{"Magic": true}},
			"seed": map[string]any{
				"name": "one", "identity": "one", "clusterIdentity": "seed-identity", "mine": true,
				"labels": map[string]any{"climate": "mild"}, "annotations": nil,
				"provider": "local", "region": "north", "volumeProvider": "fast", "volumeProviders": volumes,
				"ingressDomain": "ingress.example.org", "protected": true, "visible": false, "taints": taints,
				"networks": networks, "blockCIDRs": []any{"169.254.169.254/32"},
				"spec": map[string]any{
					"dns": map[string]any{}, "networks": networks, "provider": map[string]any{"type": "local", "region": "north"},
					"ingress":  map[string]any{"controller": map[string]any{"kind": ""}, "domain": "ingress.example.org"},
					"settings": map[string]any{"scheduling": map[string]any{"visible": false}}, "taints": taints,
					"volume": map[string]any{"providers": volumes},
				},
			},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("GLET-CI-2: the block gardener wins over values of the deployment, table by table (-want +got):\n%s", diff)
	}
	if own["gardener"].(map[string]any)["version"] != "mine" { //nolint:forcetypeassert // made above
		t.Error("The values of the deployment are not changed")
	}
}

func TestHomeOf(t *testing.T) {
	t.Parallel()
	installation := &gardencorev1beta1.ControllerInstallation{ObjectMeta: metav1.ObjectMeta{Name: "demo-x"}}
	installation.Spec.RegistrationRef.Name = "demo"
	seed := &gardencorev1beta1.Seed{}
	want := metav1.ObjectMeta{Name: "extension-demo-x", Labels: map[string]string{
		"gardener.cloud/role": "extension", "controllerregistration.core.gardener.cloud/name": "demo",
		"high-availability-config.resources.gardener.cloud/consider": "true",
	}}
	if diff := cmp.Diff(want, controllerinstallation.HomeOf(installation, seed).ObjectMeta); diff != "" {
		t.Errorf("EXT-REG-6: without the annotation nothing is enforced (-want +got):\n%s", diff)
	}
	installation.Annotations = map[string]string{"security.gardener.cloud/pod-security-enforce": "restricted"}
	seed.Spec.Provider.Zones = []string{"b", "a"}
	want.Labels["pod-security.kubernetes.io/enforce"] = "restricted"
	want.Annotations = map[string]string{"high-availability-config.resources.gardener.cloud/zones": "b,a"}
	if diff := cmp.Diff(want, controllerinstallation.HomeOf(installation, seed).ObjectMeta); diff != "" {
		t.Errorf("GLET-CI-3: pod security and zones are passed on (-want +got):\n%s", diff)
	}
}
