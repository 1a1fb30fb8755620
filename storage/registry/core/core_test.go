// SPDX-License-Identifier: Apache-2.0

package core_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/registry/rest"

	gardencorev1 "github.com/terrarium-garden/terrarium/apis/core/v1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/storage/registry/kind/kindtest"
	"github.com/terrarium-garden/terrarium/storage/registry/registrytest"
)

func served(t *testing.T) map[string]rest.Storage {
	t.Helper()
	groups, _ := registrytest.Groups(t)
	return groups[0].VersionedResourcesStorageMap["v1beta1"]
}

func TestResources(t *testing.T) {
	t.Parallel()
	want := []string{
		"backupbuckets", "backupbuckets/status", "backupentries", "backupentries/status", "cloudprofiles", "cloudprofiles/status",
		"controllerdeployments", "controllerinstallations", "controllerinstallations/status", "controllerregistrations",
		"exposureclasses", "internalsecrets", "namespacedcloudprofiles", "namespacedcloudprofiles/status", "plants", "plants/status",
		"projects", "projects/status", "quotas", "secretbindings", "seeds", "seeds/status", "shoots",
		"shoots/adminkubeconfig", "shoots/binding", "shoots/status", "shoots/viewerkubeconfig", "shootstates",
	}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(served(t)))); diff != "" {
		t.Errorf("API-RES-2, 3, 7, 8: what is served (-want +got):\n%s", diff)
	}
}

func TestControllerInstallation(t *testing.T) {
	t.Parallel()
	type object = gardencorev1beta1.ControllerInstallation
	installations := kindtest.Of[*object](t, served(t), "controllerinstallations")
	for name, tc := range map[string]struct {
		reason string
		given  *object
		want   map[string]string
	}{
		"seed": {
			"an extension on a seed", &object{Spec: gardencorev1beta1.ControllerInstallationSpec{RegistrationRef: corev1.ObjectReference{Name: "r"}, SeedRef: &corev1.ObjectReference{Name: "s"}}},
			map[string]string{"Registration": "r", "Cluster": "Seed/s", "Valid": "<unknown>", "Installed": "<unknown>", "Healthy": "<unknown>", "Progressing": "<unknown>"},
		},
		"shoot": {
			"an extension on a shoot",
			&object{
				Spec: gardencorev1beta1.ControllerInstallationSpec{ShootRef: &corev1.ObjectReference{Namespace: "n", Name: "s"}},
				Status: gardencorev1beta1.ControllerInstallationStatus{Conditions: []gardencorev1beta1.Condition{
					{Type: "Valid", Status: "True"}, {Type: "Installed", Status: "False"}, {Type: "Healthy", Status: "Unknown"}, {Type: "Progressing", Status: "True"},
				}},
			},
			map[string]string{"Registration": "", "Cluster": "Shoot/n/s", "Valid": "True", "Installed": "False", "Healthy": "Unknown", "Progressing": "True"},
		},
		"nowhere": {
			"an extension nowhere", &object{},
			map[string]string{"Registration": "", "Cluster": "<unknown>", "Valid": "<unknown>", "Installed": "<unknown>", "Healthy": "<unknown>", "Progressing": "<unknown>"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, installations.Row(t.Context(), tc.given)); diff != "" {
				t.Errorf("API-RES-11: %s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestControllerRegistration(t *testing.T) {
	t.Parallel()
	type object = gardencorev1beta1.ControllerRegistration
	registrations := kindtest.Of[*object](t, served(t), "controllerregistrations")
	given := &object{Spec: gardencorev1beta1.ControllerRegistrationSpec{Resources: []gardencorev1beta1.ControllerResource{{Kind: "Worker", Type: "local"}, {Kind: "Network", Type: "calico"}}}}
	if got := registrations.Row(t.Context(), given)["Resources"]; got != "Worker/local, Network/calico" {
		t.Errorf("API-RES-11: resources %q", got)
	}
}

func TestControllerDeployment(t *testing.T) {
	t.Parallel()
	type object = gardencorev1.ControllerDeployment
	ctx := kindtest.Context(t, "", "rose")
	deployments := kindtest.Of[*object](t, served(t), "controllerdeployments")
	d := &object{ObjectMeta: metav1.ObjectMeta{Name: "d"}, Helm: &gardencorev1.HelmControllerDeployment{RawChart: []byte("one")}}
	d = deployments.MustCreate(ctx, d)
	d.Labels = map[string]string{"a": "b"}
	d.InjectGardenKubeconfig = new(true)
	if d = deployments.MustUpdate(ctx, d); d.Generation != 1 {
		t.Errorf("API-STRAT-2: neither a label nor access to the garden is a new generation, got %d", d.Generation)
	}
	d.Helm.RawChart = []byte("two")
	if d = deployments.MustUpdate(ctx, d); d.Generation != 2 {
		t.Errorf("API-STRAT-2: another chart is one, got %d", d.Generation)
	}
	d.Helm = nil
	metav1.SetMetaDataAnnotation(&d.ObjectMeta, "migration.controllerdeployment.gardener.cloud/type", "other")
	if d = deployments.MustUpdate(ctx, d); d.Generation != 3 {
		t.Errorf("API-STRAT-2: another type is one, got %d", d.Generation)
	}
	metav1.SetMetaDataAnnotation(&d.ObjectMeta, "migration.controllerdeployment.gardener.cloud/providerConfig", "{}")
	if d = deployments.MustUpdate(ctx, d); d.Generation != 4 {
		t.Errorf("API-STRAT-2: another configuration is one, got %d", d.Generation)
	}
	d.Resources = []gardencorev1.NamedResourceReference{{Name: "key", ResourceRef: autoscalingv1.CrossVersionObjectReference{APIVersion: "v1", Kind: "Secret", Name: "key"}}}
	if d = deployments.MustUpdate(ctx, d); d.Generation != 5 {
		t.Errorf("API-STRAT-2: another resource is one, got %d", d.Generation)
	}
}

func TestSecretBinding(t *testing.T) {
	t.Parallel()
	type object = gardencorev1beta1.SecretBinding
	ctx := kindtest.Context(t, "garden-meadow", "rose")
	bindings := kindtest.Of[*object](t, served(t), "secretbindings")
	given := &object{
		ObjectMeta: metav1.ObjectMeta{Namespace: "garden-meadow", GenerateName: "some-"}, Provider: &gardencorev1beta1.SecretBindingProvider{Type: "local"},
		SecretRef: corev1.SecretReference{Namespace: "other", Name: "key"},
	}
	got := bindings.MustCreate(ctx, given)
	if !strings.HasPrefix(got.Name, "some-") || len(got.Name) != len("some-")+5 || got.Generation != 0 {
		t.Errorf("a binding gets a name and no generation, got %q, %d", got.Name, got.Generation)
	}
	if diff := cmp.Diff(map[string]string{"Secret": "other/key", "Provider": "local"}, bindings.Row(ctx, got)); diff != "" {
		t.Errorf("API-RES-11: cells (-want +got):\n%s", diff)
	}
	got.Provider = nil
	if diff := cmp.Diff(map[string]string{"Secret": "other/key", "Provider": "<none>"}, bindings.Row(ctx, got)); diff != "" {
		t.Errorf("API-RES-11: cells of one without provider (-want +got):\n%s", diff)
	}
}

func TestInternalSecret(t *testing.T) {
	t.Parallel()
	type object = gardencorev1beta1.InternalSecret
	ctx := kindtest.Context(t, "garden-meadow", "rose")
	secrets := kindtest.Of[*object](t, served(t), "internalsecrets")
	given := &object{
		ObjectMeta: metav1.ObjectMeta{Namespace: "garden-meadow", Name: "s"}, Type: "Opaque",
		Data: map[string][]byte{"a": []byte("1"), "b": []byte("2")}, StringData: map[string]string{"b": "3", "c": "4"},
	}
	got := secrets.MustCreate(ctx, given)
	want := map[string][]byte{"a": []byte("1"), "b": []byte("3"), "c": []byte("4")}
	if diff := cmp.Diff(want, got.Data); diff != "" || got.StringData != nil {
		t.Errorf("API-VALIS-1: stringData goes into data (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{"Type": "Opaque", "Data": "3"}, secrets.Row(ctx, got)); diff != "" {
		t.Errorf("API-RES-11: cells (-want +got):\n%s", diff)
	}
	got.Type, got.StringData = "", map[string]string{"d": "5"}
	got = secrets.MustUpdate(ctx, got)
	if got.Type != "Opaque" || string(got.Data["d"]) != "5" || len(got.Data) != 4 {
		t.Errorf("API-VALIS-1: an empty type stays what it was, got %q, %v", got.Type, got.Data)
	}
	got.Type = "other"
	if _, err := secrets.Update(ctx, got); !apierrors.IsInvalid(err) {
		t.Errorf("API-VALIS-1: the type never changes, got %v", err)
	}
	got.Type, got.Immutable = "Opaque", new(true)
	got = secrets.MustUpdate(ctx, got)
	got.Data["e"] = nil
	if _, err := secrets.Update(ctx, got); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "data") {
		t.Errorf("API-VALIS-1: what is immutable stays, got %v", err)
	}
}
