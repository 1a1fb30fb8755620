// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

func TestProviderLocalManifest(t *testing.T) {
	t.Parallel()
	command := []string{"provider-local", "manifest", "--image", "terrarium:v1", "--machine-image", "machine:v1", "--image-archives", ""}
	asYAML := newWorld().run(t, command...)
	asJSON := newWorld().run(t, append(slices.Clone(command), "-o", "json")...)
	if asYAML.status != 0 || asJSON.status != 0 {
		t.Fatalf("manifest ended with %d and %d\n%s%s", asYAML.status, asJSON.status, asYAML.errors, asJSON.errors)
	}
	documents := strings.Split(strings.TrimPrefix(asYAML.out, "---\n"), "---\n")
	list := &unstructured.UnstructuredList{}
	if err := json.Unmarshal([]byte(asJSON.out), list); err != nil {
		t.Fatal(err)
	}
	if len(documents) != 2 || len(list.Items) != 2 {
		t.Fatalf("%d documents and a list of %d, want two objects each", len(documents), len(list.Items))
	}
	for i, kind := range []string{"ControllerDeployment", "ControllerRegistration"} {
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(documents[i]), &object.Object); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(list.Items[i].Object, object.Object); diff != "" {
			t.Errorf("object %d in the two formats (-JSON +YAML):\n%s", i, diff)
		}
		if diff := cmp.Diff([]string{kind, "provider-local"}, []string{object.GetKind(), object.GetName()}); diff != "" {
			t.Errorf("kind and name of object %d (-want +got):\n%s", i, diff)
		}
	}
	values, _, err := unstructured.NestedMap(list.Items[0].Object, "providerConfig", "values")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"image": "terrarium:v1", "machineImage": "machine:v1", "imageArchives": ""}
	maps.DeleteFunc(values, func(name string, _ any) bool { _, ok := want[name]; return !ok })
	if diff := cmp.Diff(want, values); diff != "" {
		t.Errorf("values of the chart (-want +got):\n%s", diff)
	}
}

func TestProviderLocalUsage(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		args   string
		want   []string
	}{
		"Manifest":        {reason: "images are part of every installation", args: "manifest", want: []string{"--image: required", "--machine-image: required"}},
		"ManifestOutput":  {reason: "an unknown form is told with the known ones", args: "manifest --image a --machine-image b -o xml", want: []string{`"xml" is not one of yaml, json`}},
		"Run":             {reason: "so they are for the process", args: "run --image a", want: []string{"--machine-image: required"}},
		"Bastion":         {reason: "a server without rules would let in nobody", args: "bastion", want: []string{"--host-key: ", "--rules: "}},
		"CloudController": {reason: "shoot and namespace have no defaults", args: "cloud-controller", want: []string{"--kubeconfig: ", "--namespace: "}},
		"Clouds": {
			reason: "machines are in one place, and not in a network that is none", args: "cloud-controller --seed-kubeconfig a --cloud-kubeconfig b --cloud-refused here",
			want: []string{"--cloud-kubeconfig: ", `"here" is not a network`},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newWorld().run(t, append([]string{"provider-local"}, strings.Fields(tc.args)...)...)
			if r.status != 2 {
				t.Errorf("%s\nstatus is %d, want 2", tc.reason, r.status)
			}
			for _, want := range tc.want {
				if !strings.Contains(r.errors, want) {
					t.Errorf("%s\nerrors lack %q:\n%s", tc.reason, want, r.errors)
				}
			}
		})
	}
}
