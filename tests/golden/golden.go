// SPDX-License-Identifier: Apache-2.0

// Package golden compares rendered objects with files under testdata. With UPDATE_GOLDEN=1 in the environment it writes the files
// instead; read the changes before you commit them.
package golden

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/yaml"

	"github.com/terrarium-garden/terrarium/apis/scheme"
)

// updateVariable names the environment variable that makes tests write golden files.
const updateVariable = "UPDATE_GOLDEN"

// Objects compares the objects, as YAML documents in their order, with testdata/<name>.
func Objects(t *testing.T, name string, objs []client.Object) {
	t.Helper()
	s, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	for _, obj := range objs {
		gvk, err := apiutil.GVKForObject(obj, s)
		if err != nil {
			t.Fatal(err)
		}
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
		if err != nil {
			t.Fatal(err)
		}
		content["apiVersion"], content["kind"] = gvk.GroupVersion().String(), gvk.Kind
		delete(content, "status")
		data, err := yaml.Marshal(content)
		if err != nil {
			t.Fatal(err)
		}
		out.WriteString("---\n")
		out.Write(data)
	}
	Text(t, name, out.String())
}

// Text compares a text with testdata/<name>.
func Text(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if os.Getenv(updateVariable) != "" {
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path) //nolint:gosec // a file of the test
	if err != nil {
		t.Fatalf("%v; run the test with %s=1 to write it", err, updateVariable)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("rendered objects differ from %s (-want +got):\n%s", path, diff)
	}
}
