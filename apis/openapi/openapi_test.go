// SPDX-License-Identifier: Apache-2.0

package openapi_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/terrarium-garden/terrarium/apis/openapi"
	"github.com/terrarium-garden/terrarium/apis/scheme"
)

func TestEveryServedKindIsDescribed(t *testing.T) {
	t.Parallel()

	s := runtime.NewScheme()
	if err := scheme.AddServedVersions(s); err != nil {
		t.Fatal(err)
	}

	described := definitions()

	for gvk, goType := range s.AllKnownTypes() {
		if !strings.Contains(goType.PkgPath(), "/apis/") || strings.HasPrefix(goType.PkgPath(), "k8s.io/") {
			continue
		}

		group, _, _ := strings.Cut(gvk.Group, ".")
		prefix := "com.github.gardener.gardener.pkg.apis"
		if group == "appliance" { // Our own.
			prefix = "com.github.terrarium-garden.terrarium.apis"
		}
		name := strings.Join([]string{prefix, group, gvk.Version, gvk.Kind}, ".")

		definition, found := described[name]
		if !found {
			t.Errorf("%s is not described under %q, the name that clients know", gvk, name)

			continue
		}

		if definition.Schema.Description == "" {
			t.Errorf("%q says nothing to kubectl explain", name)
		}
	}
}

func TestReferencesLeadSomewhere(t *testing.T) {
	t.Parallel()

	described := definitions()

	for name, definition := range described {
		for _, dependency := range definition.Dependencies {
			if _, found := described[dependency]; !found && !strings.HasPrefix(dependency, "io.k8s.") {
				t.Errorf("%q refers to %q, which neither we nor Kubernetes describe", name, dependency)
			}
		}

		for field, property := range definition.Schema.Properties {
			if property.Description == "" && !embedded(field) {
				t.Errorf("field %q of %q says nothing to kubectl explain", field, name)
			}
		}
	}
}

func TestListsMergeByKey(t *testing.T) {
	t.Parallel()

	for name, tc := range map[string]struct {
		reason           string
		definition, list string
		key              string
	}{
		"workers":    {"kubectl apply changes one pool and keeps the others.", "Provider", "workers", "name"},
		"conditions": {"Two components may each own a condition.", "ShootStatus", "conditions", "type"},
		"versions":   {"A version is offered once.", "KubernetesSettings", "versions", "version"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			list := definitions()["com.github.gardener.gardener.pkg.apis.core.v1beta1."+tc.definition].Schema.Properties[tc.list]
			got := map[string]string{}
			for _, extension := range []string{"x-kubernetes-patch-merge-key", "x-kubernetes-patch-strategy"} {
				got[extension], _ = list.Extensions.GetString(extension)
			}

			want := map[string]string{"x-kubernetes-patch-merge-key": tc.key, "x-kubernetes-patch-strategy": "merge"}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s\nextensions of %s.%s (-want +got):\n%s", tc.reason, tc.definition, tc.list, diff)
			}
		})
	}
}

// embedded says whether a field comes with every kind.
func embedded(field string) bool {
	return slices.Contains([]string{"apiVersion", "kind", "metadata"}, field)
}

func definitions() map[string]common.OpenAPIDefinition {
	return openapi.GetOpenAPIDefinitions(func(path string) spec.Ref {
		return spec.MustCreateRef("#/definitions/" + path)
	})
}
