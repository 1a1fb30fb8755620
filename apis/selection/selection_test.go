// SPDX-License-Identifier: Apache-2.0

package selection_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/terrarium-garden/terrarium/apis/scheme"
)

func TestSelectors(t *testing.T) {
	t.Parallel()
	s := runtime.NewScheme()
	if err := scheme.AddServedVersions(s); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		reason      string
		group, kind string
		label       string
		refuse      bool
	}{
		"API-RES-9 bastion seed":  {reason: "a gardenlet selects its bastions", group: "operations", kind: "Bastion", label: "spec.seedName"},
		"API-RES-9 bastion shoot": {reason: "a person those of a shoot", group: "operations", kind: "Bastion", label: "spec.shootRef.name"},
		"API-RES-9 managed seed":  {reason: "a shoot is a seed or not", group: "seedmanagement", kind: "ManagedSeed", label: "spec.shoot.name"},
		"API-RES-9 name":          {reason: "every kind has names", group: "security", kind: "WorkloadIdentity", label: "metadata.name"},
		"API-RES-9 namespace":     {reason: "and namespaces", group: "security", kind: "CredentialsBinding", label: "metadata.namespace"},
		"API-RES-9 others":        {reason: "and nothing else", group: "seedmanagement", kind: "Gardenlet", label: "spec.shoot.name", refuse: true},
		"API-RES-9 slip":          {reason: "a typing error must not select everything", group: "operations", kind: "Bastion", label: "spec.seed", refuse: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			gvk := schema.GroupVersionKind{Group: tc.group + ".gardener.cloud", Version: "v1alpha1", Kind: tc.kind}
			label, value, err := s.ConvertFieldLabel(gvk, tc.label, "x")
			if tc.refuse {
				if err == nil || !strings.Contains(err.Error(), tc.label) {
					t.Errorf("%s\nConvertFieldLabel(%q) = %v, want an error that names it", tc.reason, tc.label, err)
				}
				return
			}
			if err != nil {
				t.Fatalf("%s\nConvertFieldLabel(%q): %v", tc.reason, tc.label, err)
			}
			if diff := cmp.Diff([]string{tc.label, "x"}, []string{label, value}); diff != "" {
				t.Errorf("%s\nConvertFieldLabel(%q) (-want +got):\n%s", tc.reason, tc.label, diff)
			}
		})
	}
}
