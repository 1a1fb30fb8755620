// SPDX-License-Identifier: Apache-2.0

package join_test

import (
	"encoding/base64"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/yaml"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/gardenlet"
	"github.com/terrarium-garden/terrarium/controllers/chart"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/reach"
	gardenletchart "github.com/terrarium-garden/terrarium/packaging/charts/gardenlet"
)

// render renders the chart of the gardenlet as a release of it is, with the example values and a garden.
func render(t *testing.T, garden map[string]any) ([]*unstructured.Unstructured, error) {
	t.Helper()
	data, err := os.ReadFile("../../../packaging/charts/gardenlet-values.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var values map[string]any
	if err := yaml.Unmarshal(data, &values); err != nil {
		t.Fatal(err)
	}
	given, found := values["garden"].(map[string]any)
	if !found {
		t.Fatalf("the example names no garden: %v", values)
	}
	maps.Copy(given, garden)
	loaded, err := chart.LoadFS(gardenletchart.Files())
	if err != nil {
		t.Fatal(err)
	}
	return loaded.Render(chart.Release{Name: "gardenlet", Namespace: "garden", KubernetesVersion: "v1.36.3"}, values)
}

// checkWays compares the labels of the pods with what the gardenlet talks to (GLET-NP-2).
func checkWays(t *testing.T, deployment *unstructured.Unstructured) {
	t.Helper()
	got, _, err := unstructured.NestedStringMap(deployment.Object, "spec", "template", "metadata", "labels")
	if err != nil {
		t.Fatal(err)
	}
	want := component.WithWays(map[string]string{"app": "gardener", "role": "gardenlet"}, reach.Gardenlet)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("labels of the pods (-want +got):\n%s", diff)
	}
}

func TestChartWithToken(t *testing.T) {
	t.Parallel()
	const token = "abcdef.0123456789abcdef"
	for name, given := range map[string]string{"Join token": "T10" + strings.Repeat("a", 64) + "::" + token + "\n", "Bootstrap token": token} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			objects, err := render(t, map[string]any{"ca": "-----BEGIN CERTIFICATE-----\n", "token": given})
			if err != nil {
				t.Fatal(err)
			}
			var kinds []string
			for _, object := range objects {
				kinds = append(kinds, object.GetKind())
				switch object.GetKind() {
				case "Secret":
					checkBootstrap(t, object, token)
				case "ConfigMap":
					checkConfig(t, object)
				case "Deployment":
					checkWays(t, object)
				}
			}
			slices.Sort(kinds)
			if diff := cmp.Diff([]string{"ClusterRoleBinding", "ConfigMap", "Deployment", "Secret", "ServiceAccount"}, kinds); diff != "" {
				t.Errorf("objects of the chart (-want +got):\n%s", diff)
			}
		})
	}
}

// checkBootstrap checks that the gardenlet reaches the garden with the token.
func checkBootstrap(t *testing.T, secret *unstructured.Unstructured, token string) {
	t.Helper()
	encoded, _, err := unstructured.NestedString(secret.Object, "data", "kubeconfig")
	if err != nil {
		t.Fatal(err)
	}
	data, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(data)
	if err != nil {
		t.Fatalf("the kubeconfig %s: %v", data, err)
	}
	got := []string{secret.GetName(), config.Host, config.BearerToken, string(config.CAData)}
	want := []string{"gardenlet-kubeconfig-bootstrap", "https://garden.example.org:6443", token, "-----BEGIN CERTIFICATE-----\n"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("name, garden, token and CA (-want +got):\n%s", diff)
	}
}

// checkConfig checks that a gardenlet starts with the configuration of the example.
func checkConfig(t *testing.T, configMap *unstructured.Unstructured) {
	t.Helper()
	text, _, err := unstructured.NestedString(configMap.Object, "data", "config.yaml")
	if err != nil {
		t.Fatal(err)
	}
	config, err := gardenconfigv1alpha1.DecodeGardenletConfiguration([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if errs := gardenlet.ValidateConfig(config); len(errs) > 0 {
		t.Errorf("the example is not valid: %v", errs)
	}
}

func TestChartRefuses(t *testing.T) {
	t.Parallel()
	for missing, given := range map[string]map[string]any{
		"garden.ca":     {"token": "abcdef.0123456789abcdef"},
		"garden.server": {"token": "abcdef.0123456789abcdef", "ca": "x", "server": ""},
	} {
		if _, err := render(t, given); err == nil || !strings.Contains(err.Error(), missing+" is required") {
			t.Errorf("a token without %s: got %v", missing, err)
		}
	}
}
