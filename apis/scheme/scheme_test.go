// SPDX-License-Identifier: Apache-2.0

package scheme_test

import (
	"hash/fnv"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
)

// rounds is how often each kind is filled anew.
const rounds = 20

// quantities are equal when their values are, whatever they remember of how they were written.
var quantities = cmp.Comparer(func(a, b resource.Quantity) bool { return a.Cmp(b) == 0 })

func TestRoundTripForClients(t *testing.T) {
	t.Parallel()

	s, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}

	codecs := serializer.NewCodecFactory(s, serializer.EnableStrict)

	for _, gvk := range gardenKinds(s) {
		t.Run(gvk.String(), func(t *testing.T) {
			t.Parallel()

			roundTrip(t, s, gvk, codecs.LegacyCodec(gvk.GroupVersion()), codecs.UniversalDeserializer())
		})
	}
}

func TestRoundTripForServer(t *testing.T) {
	t.Parallel()

	s := runtime.NewScheme()
	if err := scheme.AddServed(s); err != nil {
		t.Fatal(err)
	}

	codecs := serializer.NewCodecFactory(s)

	for _, gvk := range gardenKinds(s) {
		t.Run(gvk.String(), func(t *testing.T) {
			t.Parallel()

			// What the server decodes is its internal version, with defaults.
			internal := schema.GroupVersion{Group: gvk.Group, Version: runtime.APIVersionInternal}
			roundTrip(t, s, gvk, codecs.LegacyCodec(gvk.GroupVersion()), codecs.UniversalDecoder(internal))
		})
	}
}

func roundTrip(t *testing.T, s *runtime.Scheme, gvk schema.GroupVersionKind, encoder runtime.Encoder, decoder runtime.Decoder) {
	t.Helper()

	hash := fnv.New64()
	_, _ = hash.Write([]byte(gvk.String()))
	content := newFiller(hash.Sum64())

	for range rounds {
		want, err := s.New(gvk)
		if err != nil {
			t.Fatal(err)
		}

		content.fill(reflect.ValueOf(want).Elem())
		s.Default(want)

		data, err := runtime.Encode(encoder, want)
		if err != nil {
			t.Fatalf("encode: %v", err)
		}

		if !strings.Contains(string(data), `"apiVersion":"`+gvk.GroupVersion().String()+`"`) {
			t.Fatalf("The served version is what is written, got %s", data)
		}

		got, err := runtime.Decode(decoder, data)
		if err != nil {
			t.Fatalf("decode %s: %v", data, err)
		}

		if reflect.TypeOf(got) != reflect.TypeOf(want) {
			// The server handles the kind in another version.
			got, err = s.ConvertToVersion(got, gvk.GroupVersion())
			if err != nil {
				t.Fatalf("convert %s: %v", data, err)
			}
		}

		got.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
		want.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})

		if diff := cmp.Diff(want, got, quantities); diff != "" {
			t.Fatalf("An object is read as it was written (-written +read):\n%s", diff)
		}

		if diff := cmp.Diff(want, want.DeepCopyObject(), quantities); diff != "" {
			t.Fatalf("A deep copy is equal (-original +copy):\n%s", diff)
		}
	}
}

func TestServedKindsHaveListsAndInternalVersions(t *testing.T) {
	t.Parallel()

	s := runtime.NewScheme()
	if err := scheme.AddServed(s); err != nil {
		t.Fatal(err)
	}

	for _, gvk := range gardenKinds(s) {
		if !s.Recognizes(schema.GroupVersionKind{Group: gvk.Group, Version: runtime.APIVersionInternal, Kind: gvk.Kind}) {
			t.Errorf("%s has no internal version, so the server could not store it", gvk)
		}

		if gvk.Group == gardencorev1beta1.GroupName && !strings.HasSuffix(gvk.Kind, "List") &&
			!s.Recognizes(gvk.GroupVersion().WithKind(gvk.Kind+"List")) {
			t.Errorf("%s has no list", gvk)
		}
	}

	if got := s.PrioritizedVersionsForGroup(gardencorev1beta1.GroupName); len(got) != 2 || got[0].Version != "v1beta1" {
		t.Errorf("The preferred version of the core group is v1beta1, got %v", got)
	}
}

func TestServedVersionsHaveOneKindPerType(t *testing.T) {
	t.Parallel()

	s := runtime.NewScheme()
	if err := scheme.AddServedVersions(s); err != nil {
		t.Fatal(err)
	}

	for _, gvk := range gardenKinds(s) {
		object, err := s.New(gvk)
		if err != nil {
			t.Fatal(err)
		}

		kinds, _, err := s.ObjectKinds(object)
		if err != nil {
			t.Fatal(err)
		}

		if diff := cmp.Diff([]schema.GroupVersionKind{gvk}, kinds); diff != "" {
			t.Errorf("OpenAPI models are named by the only kind of a type (-want +got):\n%s", diff)
		}
	}
}

func TestFieldSelectors(t *testing.T) {
	t.Parallel()

	s, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}

	for name, tc := range map[string]struct {
		reason string
		kind   string
		label  string
		refuse bool
	}{
		"name":            {reason: "Every kind is selected by name.", kind: "Seed", label: "metadata.name"},
		"seed of a shoot": {reason: "A gardenlet selects its shoots.", kind: "Shoot", label: "spec.seedName"},
		"upper case":      {reason: "The published label has capitals.", kind: "Shoot", label: "spec.cloudProfile.Kind"},
		"type":            {reason: "As for Secrets.", kind: "InternalSecret", label: "type"},
		"installation":    {reason: "A gardenlet selects its installations.", kind: "ControllerInstallation", label: "spec.seedRef.name"},
		"project":         {reason: "Clients look a project up by its namespace.", kind: "Project", label: "spec.namespace"},
		"bucket":          {reason: "A gardenlet selects its buckets.", kind: "BackupBucket", label: "spec.seedName"},
		"entries":         {reason: "A bucket's entries are found.", kind: "BackupEntry", label: "spec.bucketName"},
		"own shoot":       {reason: "So are those of a self-hosted shoot.", kind: "BackupEntry", label: "spec.shootRef.name"},
		"no bucket":       {reason: "A bucket is in no bucket.", kind: "BackupBucket", label: "spec.bucketName", refuse: true},
		"plain":           {reason: "A quota has its name only.", kind: "Quota", label: "spec.scope", refuse: true},
		"no namespace": {
			reason: "A project has no namespace of its own, and its label is not the one meant.",
			kind:   "Project", label: "metadata.namespace", refuse: true,
		},
		"unknown": {reason: "A typing error must not select everything.", kind: "Shoot", label: "spec.seed", refuse: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			label, value, err := s.ConvertFieldLabel(gardencorev1beta1.GroupVersion.WithKind(tc.kind), tc.label, "x")
			if tc.refuse {
				if err == nil || !strings.Contains(err.Error(), tc.label) {
					t.Errorf("%s\nConvertFieldLabel(%q) = %v, want an error that names it", tc.reason, tc.label, err)
				}

				return
			}

			if err != nil || label != tc.label || value != "x" {
				t.Errorf("%s\nConvertFieldLabel(%q) = %q, %q, %v", tc.reason, tc.label, label, value, err)
			}
		})
	}
}

func TestExtensionObjects(t *testing.T) {
	t.Parallel()

	s, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}

	for _, gvk := range gardenKinds(s) {
		if gvk.Group != gardenextensionsv1alpha1.GroupName || strings.HasSuffix(gvk.Kind, "List") || gvk.Kind == "Cluster" {
			continue
		}

		t.Run(gvk.Kind, func(t *testing.T) {
			t.Parallel()

			object, err := s.New(gvk)
			if err != nil {
				t.Fatal(err)
			}

			extension, ok := object.(gardenextensionsv1alpha1.Object)
			if !ok {
				t.Fatalf("%s cannot be handled like every other extension kind", gvk)
			}

			extension.GetExtensionSpec().Type = "local"
			extension.GetExtensionStatus().ObservedGeneration = 7

			fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
			if err != nil {
				t.Fatal(err)
			}

			spec, _ := fields["spec"].(map[string]any)
			status, _ := fields["status"].(map[string]any)

			if spec["type"] != "local" || status["observedGeneration"] != int64(7) {
				t.Errorf("Changes to the common parts change the object, got %v", fields)
			}
		})
	}
}

// gardenKinds returns the kinds of our own groups, without those that every group has.
func gardenKinds(s *runtime.Scheme) []schema.GroupVersionKind {
	var kinds []schema.GroupVersionKind

	for gvk, goType := range s.AllKnownTypes() {
		if strings.HasSuffix(gvk.Group, ".gardener.cloud") && gvk.Version != runtime.APIVersionInternal &&
			goType.PkgPath() != reflect.TypeFor[metav1.Status]().PkgPath() {
			kinds = append(kinds, gvk)
		}
	}

	return kinds
}
