// SPDX-License-Identifier: Apache-2.0

package settings_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardensettingsv1alpha1 "github.com/terrarium-garden/terrarium/apis/settings/v1alpha1"
	"github.com/terrarium-garden/terrarium/storage/registry/kind/kindtest"
	"github.com/terrarium-garden/terrarium/storage/registry/settings"
)

func TestPresets(t *testing.T) {
	t.Parallel()
	group, err := settings.Group(kindtest.Options(t))
	if err != nil {
		t.Fatal(err)
	}
	all := group.VersionedResourcesStorageMap["v1alpha1"]
	if diff := cmp.Diff([]string{"clusteropenidconnectpresets", "openidconnectpresets"}, slices.Sorted(maps.Keys(all))); diff != "" {
		t.Errorf("API-RES-4: what is served (-want +got):\n%s", diff)
	}
	spec := gardensettingsv1alpha1.OpenIDConnectPresetSpec{
		Server: gardensettingsv1alpha1.KubeAPIServerOpenIDConnect{ClientID: "garden", IssuerURL: "https://login.example"}, Weight: 7,
		ShootSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"team": "roses"}},
	}

	ones := kindtest.Of[*gardensettingsv1alpha1.OpenIDConnectPreset](t, all, "openidconnectpresets")
	ctx := kindtest.Context(t, "garden-meadow", "rose")
	one := ones.MustCreate(ctx, &gardensettingsv1alpha1.OpenIDConnectPreset{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-meadow", Name: "sso"}, Spec: spec})
	if diff := cmp.Diff(map[string]string{"Issuer": "https://login.example", "Shoot-Selector": "team=roses"}, ones.Row(ctx, one)); diff != "" || one.Generation != 0 {
		t.Errorf("API-RES-11: cells (-want +got), generation %d:\n%s", one.Generation, diff)
	}
	one.Spec.Weight = 0
	if _, err := ones.Update(ctx, one); !apierrors.IsInvalid(err) {
		t.Errorf("API-OIDC-2: an update is checked, got %v", err)
	}

	everywhere := kindtest.Of[*gardensettingsv1alpha1.ClusterOpenIDConnectPreset](t, all, "clusteropenidconnectpresets")
	ctx = kindtest.Context(t, "", "rose")
	given := &gardensettingsv1alpha1.ClusterOpenIDConnectPreset{ObjectMeta: metav1.ObjectMeta{Name: "sso"}}
	given.Spec.OpenIDConnectPresetSpec = spec
	want := map[string]string{"Issuer": "https://login.example", "Shoot-Selector": "team=roses", "Project-Selector": "<none>"}
	if diff := cmp.Diff(want, everywhere.Row(ctx, everywhere.MustCreate(ctx, given))); diff != "" {
		t.Errorf("API-RES-11: cells (-want +got):\n%s", diff)
	}
	given = &gardensettingsv1alpha1.ClusterOpenIDConnectPreset{ObjectMeta: metav1.ObjectMeta{Name: "bad"}}
	if _, err := everywhere.Create(ctx, given); !apierrors.IsInvalid(err) {
		t.Errorf("API-OIDC-2: a new one is checked, got %v", err)
	}
}
