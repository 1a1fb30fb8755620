// SPDX-License-Identifier: Apache-2.0

package fieldtypes_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/apiserver/fieldtypes"
)

// project returns a Project as a typed value.
func project(tb testing.TB, types managedfields.TypeConverter) *typed.TypedValue {
	tb.Helper()
	value, err := types.ObjectToTyped(&gardencorev1beta1.Project{
		TypeMeta:   metav1.TypeMeta{APIVersion: gardencorev1beta1.GroupVersion.String(), Kind: "Project"},
		ObjectMeta: metav1.ObjectMeta{Name: "meadow", Labels: map[string]string{"soil": "chalk"}},
		Spec:       gardencorev1beta1.ProjectSpec{Namespace: new("garden-meadow")},
	})
	if err != nil {
		tb.Fatal(err)
	}

	return value
}

func TestLazyObjectsAreThoseOfTheLibrary(t *testing.T) {
	t.Parallel()

	library := managedfields.NewDeducedTypeConverter()
	value := project(t, library)
	want, err := library.TypedToObject(value)
	if err != nil {
		t.Fatal(err)
	}
	got, err := fieldtypes.Lazy(library).TypedToObject(value)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want.GetObjectKind().GroupVersionKind(), got.GetObjectKind().GroupVersionKind()); diff != "" {
		t.Errorf("kind before the contents are read (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, got.DeepCopyObject()); diff != "" {
		t.Errorf("copy (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want.GetObjectKind().GroupVersionKind(), got.GetObjectKind().GroupVersionKind()); diff != "" {
		t.Errorf("kind after the contents were read (-want +got):\n%s", diff)
	}
}

// A scheme converts objects to other versions by way of the contents, as it does with all objects that have no Go type.
func TestLazyObjectsConvert(t *testing.T) {
	t.Parallel()

	kinds := runtime.NewScheme()
	if err := gardencorev1beta1.AddToScheme(kinds); err != nil {
		t.Fatal(err)
	}
	types := fieldtypes.Lazy(managedfields.NewDeducedTypeConverter())
	object, err := types.TypedToObject(project(t, types))
	if err != nil {
		t.Fatal(err)
	}
	converted, err := kinds.UnsafeConvertToVersion(object, gardencorev1beta1.GroupVersion)
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := converted.(*gardencorev1beta1.Project); !ok || got.Name != "meadow" || got.Labels["soil"] != "chalk" || *got.Spec.Namespace != "garden-meadow" {
		t.Errorf("got %#v", converted)
	}
}

func TestLazyObjectsChange(t *testing.T) {
	t.Parallel()

	types := fieldtypes.Lazy(managedfields.NewDeducedTypeConverter())
	object, err := types.TypedToObject(project(t, types))
	if err != nil {
		t.Fatal(err)
	}
	renamed := schema.GroupVersionKind{Group: "example.org", Version: "v1", Kind: "Plot"}
	object.GetObjectKind().SetGroupVersionKind(renamed)
	if diff := cmp.Diff(renamed, object.GetObjectKind().GroupVersionKind()); diff != "" {
		t.Errorf("kind (-want +got):\n%s", diff)
	}
	plain, ok := object.(runtime.Unstructured)
	if !ok {
		t.Fatalf("got %T, want an object without a Go type", object)
	}
	if got, _, _ := unstructured.NestedString(plain.UnstructuredContent(), "metadata", "name"); got != "meadow" {
		t.Errorf("name: got %q, want %q", got, "meadow")
	}
	plain.SetUnstructuredContent(map[string]any{"kind": "Pond"})
	if got := object.GetObjectKind().GroupVersionKind().Kind; got != "Pond" {
		t.Errorf("kind after the contents were replaced: got %q, want %q", got, "Pond")
	}
	if plain.IsList() {
		t.Error("A Pond is no list.")
	}
}

// What is no object has an error, where the library has one.
func TestValuesWithoutFields(t *testing.T) {
	t.Parallel()

	list, err := typed.DeducedParseableType.FromUnstructured([]any{"a"})
	if err != nil {
		t.Fatal(err)
	}
	if object, err := fieldtypes.Lazy(managedfields.NewDeducedTypeConverter()).TypedToObject(list); err == nil {
		t.Errorf("got %v, want an error", object)
	}
}

// What the library does for each owner of a field.
func BenchmarkKindOfValue(b *testing.B) {
	library := managedfields.NewDeducedTypeConverter()
	for name, types := range map[string]managedfields.TypeConverter{"Lazy": fieldtypes.Lazy(library), "Library": library} {
		b.Run(name, func(b *testing.B) {
			value := project(b, types)
			b.ReportAllocs()
			for b.Loop() {
				object, err := types.TypedToObject(value)
				if err != nil || object.GetObjectKind().GroupVersionKind().Kind != "Project" {
					b.Fatal(object, err)
				}
			}
		})
	}
}
