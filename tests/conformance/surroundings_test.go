// SPDX-License-Identifier: Apache-2.0

package conformance_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// surround makes what the varied objects refer to, from testdata/surroundings.yaml. A status in that file is reported, too.
func surround(t *testing.T, garden *harness.Garden) {
	t.Helper()
	for _, content := range read(t, filepath.Join("testdata", "surroundings.yaml")) {
		object := &unstructured.Unstructured{Object: content}
		status, reported := content["status"]
		delete(content, "status")
		harness.Eventually(t, "apply "+object.GetKind()+" "+object.GetName(), func(ctx context.Context) error {
			wanted := client.ApplyConfigurationFromUnstructured(object.DeepCopy())

			return garden.Client.Apply(ctx, wanted, client.FieldOwner("conformance"), client.ForceOwnership)
		})
		if reported {
			report(t, garden, object, status)
		}
		if object.GetKind() == "Project" {
			awaitProject(t, garden, object.GetName())
		}
	}
}

// report writes the status of an object.
func report(t *testing.T, garden *harness.Garden, object *unstructured.Unstructured, status any) {
	t.Helper()
	patch, err := json.Marshal(map[string]any{"status": status})
	if err != nil {
		t.Fatal(err)
	}
	if err := garden.Client.Status().Patch(t.Context(), object.DeepCopy(), client.RawPatch(types.MergePatchType, patch)); err != nil {
		t.Fatal(err)
	}
}

func awaitProject(t *testing.T, garden *harness.Garden, name string) {
	t.Helper()
	project := &gardencorev1beta1.Project{ObjectMeta: metav1.ObjectMeta{Name: name}}
	harness.Await(t, client.Reader(garden.Client), project, "the project is ready", func(p *gardencorev1beta1.Project) error {
		if p.Status.Phase != gardencorev1beta1.ProjectPhaseReady {
			return fmt.Errorf("phase is %q", p.Status.Phase)
		}

		return nil
	})
}

// read reads the YAML documents of a file.
func read(t *testing.T, path string) []map[string]any {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := file.Close(); err != nil {
			t.Error(err)
		}
	}()
	decoder := yaml.NewYAMLOrJSONDecoder(file, 4096)
	var objects []map[string]any
	for {
		object := map[string]any{}
		if err := decoder.Decode(&object); errors.Is(err, io.EOF) {
			return objects
		} else if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if len(object) > 0 {
			objects = append(objects, object)
		}
	}
}
