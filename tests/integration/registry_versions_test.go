// SPDX-License-Identifier: Apache-2.0

package integration_test

import (
	"context"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/endpoints/discovery"
	clientdiscovery "k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1 "github.com/terrarium-garden/terrarium/apis/core/v1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

type (
	newer = gardencorev1.ControllerDeployment
	older = gardencorev1beta1.ControllerDeployment
)

// TestControllerDeploymentVersions proves API-RES-6: one object, seen and written in two versions.
func TestControllerDeploymentVersions(t *testing.T) {
	t.Parallel()
	o := operate(t)
	t.Run("API-RES-6 chart", func(t *testing.T) {
		t.Parallel()
		chartInBothVersions(t, o.in(t))
	})
	t.Run("API-RES-6 another type", func(t *testing.T) {
		t.Parallel()
		typeInBothVersions(t, o.in(t))
	})
	t.Run("API-RES-6 appliers", func(t *testing.T) {
		t.Parallel()
		appliersOfBothVersions(t, o.in(t))
	})
	t.Run("API-RES-6 kept in v1", func(t *testing.T) {
		t.Parallel()
		keptInV1(t, o.in(t))
	})
	t.Run("API-VALCD-1", func(t *testing.T) {
		t.Parallel()
		empty := &newer{ObjectMeta: named("", "empty")}
		refused(t, "a deployment says how", o.in(t).Client.Create(t.Context(), empty), apierrors.IsInvalid, "helm: Required")
		broken := &older{ObjectMeta: named("", "broken"), Type: "helm", ProviderConfig: runtime.RawExtension{Raw: []byte(`{"chart":7}`)}}
		refused(t, "a chart can be read", o.in(t).Client.Create(t.Context(), broken), apierrors.IsBadRequest, `type "helm"`)
	})
}

func chartInBothVersions(t *testing.T, o *operator) {
	t.Helper()
	o.create(&older{ObjectMeta: named("", "chart"), Type: "helm", ProviderConfig: runtime.RawExtension{Raw: []byte(`{"chart":"aGVsbG8=","values":{"replicas":2}}`)}})
	is := &newer{ObjectMeta: named("", "chart")}
	o.read(is)
	want := &gardencorev1.HelmControllerDeployment{RawChart: []byte("hello"), Values: &apiextensionsv1.JSON{Raw: []byte(`{"replicas":2}`)}}
	if diff := cmp.Diff(want, is.Helm); diff != "" {
		t.Errorf("the chart of the older version is that of the newer (-want +got):\n%s", diff)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	w, err := o.Client.Watch(ctx, &gardencorev1.ControllerDeploymentList{}, client.MatchingFields{"metadata.name": "chart"})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	o.change(is, func() {
		is.Helm.RawChart = []byte("bye")
		is.Resources = []gardencorev1.NamedResourceReference{{Name: "key", ResourceRef: autoscalingv1.CrossVersionObjectReference{APIVersion: "v1", Kind: "Secret", Name: "key"}}}
	})
	was := &older{ObjectMeta: named("", "chart")}
	o.read(was)
	if diff := cmp.Diff(`{"chart":"Ynll","values":{"replicas":2}}`, string(was.ProviderConfig.Raw)); diff != "" || was.Type != "helm" || was.Generation != 2 {
		t.Errorf("the older version sees what the newer wrote: type %q, generation %d (-want +got):\n%s", was.Type, was.Generation, diff)
	}
	o.change(was, func() { was.ProviderConfig.Raw = []byte(`{"chart":"aGVsbG8="}`) })
	o.read(is)
	if len(is.Resources) != 1 || string(is.Helm.RawChart) != "hello" || is.Annotations != nil {
		t.Errorf("a write of the older version keeps what only the newer has, got resources %v, chart %q, annotations %v", is.Resources, is.Helm.RawChart, is.Annotations)
	}
	for e := range w.ResultChan() {
		seen, ok := e.Object.(*newer)
		if !ok {
			t.Fatalf("a watch of the newer version shows %T", e.Object)
		}
		if seen.ResourceVersion == is.ResourceVersion {
			break
		}
	}
}

func typeInBothVersions(t *testing.T, o *operator) {
	t.Helper()
	o.create(&older{ObjectMeta: named("", "other"), Type: "other", ProviderConfig: runtime.RawExtension{Raw: []byte(`{"a":"b"}`)}})
	is := &newer{ObjectMeta: named("", "other")}
	o.read(is)
	want := map[string]string{
		"migration.controllerdeployment.gardener.cloud/type":           "other",
		"migration.controllerdeployment.gardener.cloud/providerConfig": `{"a":"b"}`,
	}
	if diff := cmp.Diff(want, is.Annotations); diff != "" || is.Helm != nil {
		t.Errorf("what the newer version has no field for is kept in annotations, beside chart %v (-want +got):\n%s", is.Helm, diff)
	}
	o.change(is, func() { metav1.SetMetaDataLabel(&is.ObjectMeta, "seen", "yes") })
	was := &older{ObjectMeta: named("", "other")}
	o.read(was)
	if was.Type != "other" || string(was.ProviderConfig.Raw) != `{"a":"b"}` || was.Annotations != nil || was.Generation != 1 {
		t.Errorf("a write of the newer version keeps what only the older has, got type %q, config %s, annotations %v, generation %d",
			was.Type, was.ProviderConfig.Raw, was.Annotations, was.Generation)
	}
	list := &gardencorev1beta1.ControllerDeploymentList{}
	if err := o.Client.List(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(list.Items, func(d older) bool { return d.Name == "other" && d.Type == "other" }) {
		t.Errorf("a list of the older version shows the type, got %v", list.Items)
	}
}

func appliersOfBothVersions(t *testing.T, o *operator) {
	t.Helper()
	ctx := t.Context()
	apply := func(version, manager string, fields map[string]any) error {
		u := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "applied"}}}
		u.SetAPIVersion("core.gardener.cloud/" + version)
		u.SetKind("ControllerDeployment")
		maps.Copy(u.Object, fields)
		return o.apply(ctx, manager, u)
	}
	config := map[string]any{"type": "helm", "providerConfig": map[string]any{"chart": "aGVsbG8="}}
	accepted(t, "the older version can be applied", apply("v1beta1", "first", config))
	accepted(t, "and again", apply("v1beta1", "first", config))
	accepted(t, "the newer version beside it", apply("v1", "second", map[string]any{"injectGardenKubeconfig": true}))
	refused(t, "who owns the chart keeps it", apply("v1", "second", map[string]any{"helm": map[string]any{"rawChart": "Ynll"}}), apierrors.IsConflict)
	is := &newer{ObjectMeta: named("", "applied")}
	o.read(is)
	if is.InjectGardenKubeconfig == nil || !*is.InjectGardenKubeconfig || is.Helm == nil || string(is.Helm.RawChart) != "hello" {
		t.Errorf("both appliers have what they want, got %v, %v", is.InjectGardenKubeconfig, is.Helm)
	}
}

func keptInV1(t *testing.T, o *operator) {
	t.Helper()
	c, err := clientdiscovery.NewDiscoveryClientForConfig(o.Config)
	if err != nil {
		t.Fatal(err)
	}
	hashes := map[string]string{}
	for _, version := range []string{"v1", "v1beta1"} {
		list, err := c.ServerResourcesForGroupVersion("core.gardener.cloud/" + version)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range list.APIResources {
			if r.Kind == "ControllerDeployment" || r.Kind == "Seed" && r.Name == "seeds" {
				hashes[version+" "+r.Kind] = r.StorageVersionHash
			}
		}
	}
	want := map[string]string{
		"v1 ControllerDeployment":      discovery.StorageVersionHash("core.gardener.cloud", "v1", "ControllerDeployment"),
		"v1beta1 ControllerDeployment": discovery.StorageVersionHash("core.gardener.cloud", "v1", "ControllerDeployment"),
		"v1beta1 Seed":                 discovery.StorageVersionHash("core.gardener.cloud", "v1beta1", "Seed"),
	}
	if diff := cmp.Diff(want, hashes); diff != "" {
		t.Errorf("deployments are kept in v1, all else in v1beta1 (-want +got):\n%s", diff)
	}
	groups, err := c.ServerGroups()
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(groups.Groups, func(g metav1.APIGroup) bool { return g.Name == "core.gardener.cloud" })
	if i < 0 || groups.Groups[i].PreferredVersion.Version != "v1beta1" || len(groups.Groups[i].Versions) != 2 {
		t.Errorf("v1beta1 is preferred to v1, got %v", groups.Groups)
	}
}

// TestCapabilityFlavors proves that a kind with a form of its own in JSON can be applied and patched like any other.
func TestCapabilityFlavors(t *testing.T) {
	t.Parallel()
	o := operate(t)
	flavored := func(flavors ...any) *unstructured.Unstructured {
		u := o.asMap(profile("flavors"))
		version := map[string]any{"version": "1.0.0", "cri": []any{map[string]any{"name": "containerd"}}, "capabilityFlavors": flavors}
		for key, value := range map[string]any{
			"machineImages": map[string]any{"name": "local", "versions": []any{version}},
			"machineTypes": map[string]any{
				"name": "small", "cpu": "1", "gpu": "0", "memory": "1Gi", "capabilities": map[string]any{"architecture": []any{"amd64"}},
			},
		} {
			if err := unstructured.SetNestedSlice(u.Object, []any{value}, "spec", key); err != nil {
				t.Fatal(err)
			}
		}
		capabilities := []any{
			map[string]any{"name": "architecture", "values": []any{"amd64", "arm64"}},
			map[string]any{"name": "network", "values": []any{"fast", "plain"}},
		}
		if err := unstructured.SetNestedSlice(u.Object, capabilities, "spec", "machineCapabilities"); err != nil {
			t.Fatal(err)
		}
		return u
	}
	amd := map[string]any{"architecture": []any{"amd64"}, "network": []any{"fast", "plain"}}
	arm := map[string]any{"architecture": []any{"arm64"}}
	accepted(t, "flavors can be applied", o.apply(t.Context(), "first", flavored(amd)))
	accepted(t, "and again", o.apply(t.Context(), "first", flavored(amd)))
	accepted(t, "and changed", o.apply(t.Context(), "first", flavored(amd, arm)))
	is := &gardencorev1beta1.CloudProfile{ObjectMeta: named("", "flavors")}
	o.read(is)
	want := []gardencorev1beta1.MachineImageFlavor{
		{Capabilities: gardencorev1beta1.Capabilities{"architecture": {"amd64"}, "network": {"fast", "plain"}}},
		{Capabilities: gardencorev1beta1.Capabilities{"architecture": {"arm64"}}},
	}
	if diff := cmp.Diff(want, is.Spec.MachineImages[0].Versions[0].CapabilityFlavors); diff != "" {
		t.Errorf("flavors are read as they were written (-want +got):\n%s", diff)
	}
	o.change(is, func() {
		is.Spec.MachineImages[0].Versions[0].CapabilityFlavors[1].Capabilities["network"] = gardencorev1beta1.CapabilityValues{"plain"}
	})
	want[1].Capabilities["network"] = gardencorev1beta1.CapabilityValues{"plain"}
	if diff := cmp.Diff(want, is.Spec.MachineImages[0].Versions[0].CapabilityFlavors); diff != "" {
		t.Errorf("flavors can be patched (-want +got):\n%s", diff)
	}
}

// asMap is an object as its own JSON.
func (o *operator) asMap(profile *gardencorev1beta1.CloudProfile) *unstructured.Unstructured {
	o.t.Helper()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(profile)
	if err != nil {
		o.t.Fatal(err)
	}
	u := &unstructured.Unstructured{Object: content}
	u.SetGroupVersionKind(gardencorev1beta1.GroupVersion.WithKind("CloudProfile"))
	delete(u.Object, "status")
	unstructured.RemoveNestedField(u.Object, "metadata", "creationTimestamp")
	return u
}
