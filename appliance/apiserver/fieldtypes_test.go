// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apiserver/pkg/endpoints/openapi"
	genericapiserver "k8s.io/apiserver/pkg/server"
	openapiutil "k8s.io/apiserver/pkg/util/openapi"
	"k8s.io/kube-openapi/pkg/builder3"
	openapimodels "k8s.io/kube-openapi/pkg/util"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/apis/scheme/arbitrary"
	"github.com/terrarium-garden/terrarium/appliance/apiserver/fieldtypes"
)

// owners returns two managers of the fields of Shoots: with the types of the library as they are, and as the garden uses them.
func owners(tb testing.TB) (library, own *managedfields.FieldManager) {
	tb.Helper()
	served, kinds := runtime.NewScheme(), runtime.NewScheme()
	if err := scheme.AddServedVersions(served); err != nil {
		tb.Fatal(err)
	}
	if err := gardencorev1beta1.AddToScheme(kinds); err != nil {
		tb.Fatal(err)
	}
	models := genericapiserver.DefaultOpenAPIV3Config(
		openapiutil.GetOpenAPIDefinitionsWithoutDisabledFeatures(gardenDefinitions), openapi.NewDefinitionNamer(served))
	schemas, err := builder3.BuildOpenAPIDefinitionsForResources(models, openapimodels.GetCanonicalTypeName(&gardencorev1beta1.Shoot{}))
	if err != nil {
		tb.Fatal(err)
	}
	types, err := managedfields.NewTypeConverter(schemas, false)
	if err != nil {
		tb.Fatal(err)
	}
	kind := gardencorev1beta1.GroupVersion.WithKind("Shoot")
	manager := func(types managedfields.TypeConverter) *managedfields.FieldManager {
		m, err := managedfields.NewDefaultFieldManager(types, kinds, kinds, kinds, kind, kind.GroupVersion(), "", nil)
		if err != nil {
			tb.Fatal(err)
		}

		return m
	}

	return manager(types), manager(fieldtypes.Lazy(types))
}

// shootOf returns a Shoot of noise.
func shootOf(noise []byte) *gardencorev1beta1.Shoot {
	shoot := &gardencorev1beta1.Shoot{}
	arbitrary.From(noise).Fill(shoot)
	shoot.SetGroupVersionKind(gardencorev1beta1.GroupVersion.WithKind("Shoot"))
	shoot.Name, shoot.ManagedFields = "rose", nil

	return shoot
}

// owned returns who owns which fields; when they got them is left out.
func owned(object runtime.Object) []metav1.ManagedFieldsEntry {
	accessor, ok := object.(metav1.Object)
	if !ok {
		return nil
	}
	entries := accessor.GetManagedFields()
	for i := range entries {
		entries[i].Time = nil
	}

	return entries
}

// TestOwnersAreThoseOfTheLibrary changes arbitrary shoots in turn by several clients, one of which applies, and expects each
// time the owners that the library finds with its own types.
func TestOwnersAreThoseOfTheLibrary(t *testing.T) {
	t.Parallel()
	library, own := owners(t)
	random := rand.New(rand.NewPCG(3, 4))
	entries := 0
	for range 80 {
		noise := make([]byte, 3000)
		for i := range noise {
			noise[i] = byte(random.UintN(256))
		}
		empty := &gardencorev1beta1.Shoot{}
		empty.SetGroupVersionKind(gardencorev1beta1.GroupVersion.WithKind("Shoot"))
		var live runtime.Object = empty
		for _, client := range []string{"gardener", "kubectl", "gardener", "applied", "kubectl", "applied", "gardenlet"} {
			for range random.UintN(4) {
				noise[random.UintN(uint(len(noise)))]++
			}
			noise = noise[:len(noise)-int(random.UintN(100))]
			shoot := shootOf(noise)
			if before, ok := live.(*gardencorev1beta1.Shoot); ok && client == "gardenlet" {
				status := shoot.Status
				shoot = before.DeepCopy()
				shoot.Status = status
			}
			change := func(m *managedfields.FieldManager) runtime.Object {
				if client == "applied" {
					content := map[string]any{
						"apiVersion": shoot.APIVersion, "kind": shoot.Kind, "metadata": map[string]any{"name": shoot.Name, "labels": map[string]any{"soil": shoot.Spec.Region}},
						"spec": map[string]any{"region": shoot.Spec.Region, "kubernetes": map[string]any{"version": shoot.Spec.Kubernetes.Version}},
					}
					changed, err := m.Apply(live.DeepCopyObject(), &unstructured.Unstructured{Object: content}, client, true)
					if err != nil {
						t.Fatal(err)
					}

					return changed
				}

				return m.UpdateNoErrors(live.DeepCopyObject(), shoot.DeepCopy(), client)
			}
			want, got := change(library), change(own)
			if diff := cmp.Diff(owned(want), owned(got)); diff != "" {
				t.Fatalf("owners after a change by %q (-want +got):\n%s", client, diff)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("object after a change by %q (-want +got):\n%s", client, diff)
			}
			entries += len(owned(got))
			accessor, _ := got.(metav1.Object)
			accessor.SetResourceVersion("1") // It is stored.
			live = got
		}
	}
	if entries < 1000 {
		t.Errorf("there were %d entries in all, which is too few to show anything", entries)
	}
}

// BenchmarkOwners measures what a creation and a small change of a shoot take.
func BenchmarkOwners(b *testing.B) {
	noise := make([]byte, 4000)
	for i := range noise {
		noise[i] = byte(i * 7)
	}
	empty := &gardencorev1beta1.Shoot{}
	empty.SetGroupVersionKind(gardencorev1beta1.GroupVersion.WithKind("Shoot"))
	library, own := owners(b)
	for name, m := range map[string]*managedfields.FieldManager{"Library": library, "Own": own} {
		created := shootOf(noise)
		m.UpdateNoErrors(empty, created, "kubectl")
		b.Run(name+"/Create", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				created.ManagedFields = nil
				m.UpdateNoErrors(empty, created, "kubectl")
			}
		})
		created.ResourceVersion = "1"
		b.Run(name+"/Change", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				changed := created.DeepCopy()
				changed.Spec.SeedName = new(time.Now().String())
				m.UpdateNoErrors(created, changed, "scheduler")
			}
		})
	}
}
