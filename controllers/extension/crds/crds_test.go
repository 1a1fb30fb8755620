// SPDX-License-Identifier: Apache-2.0

package crds_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apimachinery/pkg/runtime"

	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	gardenmachinev1alpha1 "github.com/terrarium-garden/terrarium/apis/machine/v1alpha1"
	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/extension/crds"
)

func TestObjects(t *testing.T) {
	t.Parallel()

	type definition struct {
		Scope, Short string
		Columns      []string
		Protected    string
	}

	want := map[string]definition{
		"BackupBucket":            {"Cluster", "bb", []string{"Type", "Region", "State", "Age"}, "true"},
		"BackupEntry":             {"Cluster", "be", []string{"Type", "Region", "Bucket", "State", "Age"}, "true"},
		"Bastion":                 {"Namespaced", "", []string{"IP", "Hostname", "Age"}, "true"},
		"Cluster":                 {"Cluster", "", []string{"Age"}, "true"},
		"ContainerRuntime":        {"Namespaced", "cr", []string{"Type", "Status", "Age"}, "true"},
		"ControlPlane":            {"Namespaced", "cp", []string{"Type", "Status", "Age"}, "true"},
		"DNSRecord":               {"Namespaced", "dns", []string{"Type", "Domain Name", "Record Type", "Status", "Age"}, "true"},
		"Extension":               {"Namespaced", "ext", []string{"Type", "Status", "Age"}, "true"},
		"Infrastructure":          {"Namespaced", "infra", []string{"Type", "Region", "Status", "Age"}, "true"},
		"Machine":                 {"Namespaced", "mc", []string{"Status", "Age", "Node", "ProviderID"}, "true"},
		"MachineClass":            {"Namespaced", "machclass", []string{}, "true"},
		"MachineDeployment":       {"Namespaced", "mcd", []string{"Ready", "Desired", "Up-to-date", "Available", "Age"}, "true"},
		"MachineSet":              {"Namespaced", "mcs", []string{"Desired", "Current", "Ready", "Age"}, "true"},
		"ManagedResource":         {"Namespaced", "mr", []string{"Class", "Applied", "Healthy", "Progressing", "Age"}, "true"},
		"Network":                 {"Namespaced", "", []string{"Type", "Pod CIDR", "Service CIDR", "Status", "Age"}, "true"},
		"OperatingSystemConfig":   {"Namespaced", "osc", []string{"Type", "Purpose", "Status", "Age"}, "true"},
		"SelfHostedShootExposure": {"Namespaced", "exp", []string{"Type", "IP", "Hostname", "Status", "Age"}, "true"},
		"Worker":                  {"Namespaced", "", []string{"Type", "Region", "Status", "Age"}, "true"},
	}

	got := map[string]definition{}

	for _, crd := range definitions(t) {
		version := crd.Spec.Versions[0]

		columns := make([]string, 0, len(version.AdditionalPrinterColumns))
		for _, column := range version.AdditionalPrinterColumns {
			columns = append(columns, column.Name)
		}

		got[crd.Spec.Names.Kind] = definition{
			Scope:     string(crd.Spec.Scope),
			Short:     strings.Join(crd.Spec.Names.ShortNames, ","),
			Columns:   columns,
			Protected: crd.Labels["gardener.cloud/deletion-protected"],
		}
	}

	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Scopes, short names and columns are part of the contract (-want +got):\n%s", diff)
	}
}

func TestObjectsAreValid(t *testing.T) {
	t.Parallel()

	s := runtime.NewScheme()
	if err := apiextensionsv1.AddToScheme(s); err != nil {
		t.Fatal(err)
	}

	if err := apiextensions.AddToScheme(s); err != nil {
		t.Fatal(err)
	}

	for _, crd := range definitions(t) {
		t.Run(crd.Name, func(t *testing.T) {
			t.Parallel()

			// An API server fills in defaults before it looks at a definition.
			apiextensionsv1.SetDefaults_CustomResourceDefinitionSpec(&crd.Spec)
			apiextensionsv1.SetDefaults_CustomResourceDefinition(crd)
			crd.Status.StoredVersions = []string{"v1alpha1"}

			internal := &apiextensions.CustomResourceDefinition{}
			if err := s.Convert(crd, internal, nil); err != nil {
				t.Fatal(err)
			}

			if errs := validation.ValidateCustomResourceDefinition(t.Context(), internal); len(errs) > 0 {
				t.Errorf("An API server would refuse the definition: %v", errs.ToAggregate())
			}
		})
	}
}

func TestSchemas(t *testing.T) {
	t.Parallel()

	byKind := map[string]apiextensionsv1.JSONSchemaProps{}
	for _, crd := range definitions(t) {
		byKind[crd.Spec.Names.Kind] = *crd.Spec.Versions[0].Schema.OpenAPIV3Schema
	}

	for name, tc := range map[string]struct {
		reason string
		kind   string
		path   string
		check  func(apiextensionsv1.JSONSchemaProps) bool
	}{
		"provider config": {
			reason: "What only the provider understands must not be pruned.",
			kind:   "Infrastructure", path: "spec.providerConfig",
			check: preservesUnknownFields,
		},
		"state": {
			reason: "The state must survive whatever it holds.",
			kind:   "Worker", path: "status.state",
			check: preservesUnknownFields,
		},
		"labels of machines": {
			reason: "A template has labels, which a plain object would lose.",
			kind:   "MachineDeployment", path: "spec.template.metadata",
			check: preservesUnknownFields,
		},
		"labels of nodes": {
			reason: "So has that of a node.",
			kind:   "Machine", path: "spec.nodeTemplate.metadata",
			check: preservesUnknownFields,
		},
		"copy of the shoot": {
			reason: "Whole garden objects are stored, also with fields that are newer than this version.",
			kind:   "Cluster", path: "spec.shoot",
			check: preservesUnknownFields,
		},
		"class": {
			reason: "The class of an object never changes.",
			kind:   "Extension", path: "spec.class",
			check: func(p apiextensionsv1.JSONSchemaProps) bool {
				return len(p.XValidations) == 1 && p.XValidations[0].Rule == "self == oldSelf"
			},
		},
		"runtime": {
			reason: "There is one container runtime, and it never changes.",
			kind:   "OperatingSystemConfig", path: "spec.criConfig.name",
			check: func(p apiextensionsv1.JSONSchemaProps) bool {
				return len(p.Enum) == 1 && string(p.Enum[0].Raw) == `"containerd"` && len(p.XValidations) == 1
			},
		},
		"required": {
			reason: "A DNS record without these makes no sense.",
			kind:   "DNSRecord", path: "spec",
			check: func(p apiextensionsv1.JSONSchemaProps) bool {
				return cmp.Equal([]string{"name", "recordType", "secretRef", "type", "values"}, p.Required)
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			props := byKind[tc.kind]
			for segment := range strings.SplitSeq(tc.path, ".") {
				next, found := props.Properties[segment]
				if !found {
					t.Fatalf("%s has no field %q", tc.kind, tc.path)
				}

				props = next
			}

			if !tc.check(props) {
				t.Errorf("%s\n%s of %s is %+v", tc.reason, tc.path, tc.kind, props)
			}
		})
	}
}

func TestNothingIsPruned(t *testing.T) {
	t.Parallel()

	for _, crd := range definitions(t) {
		for _, path := range opaque(crd.Spec.Names.Kind, *crd.Spec.Versions[0].Schema.OpenAPIV3Schema) {
			t.Errorf("%s holds an object of which every field would be pruned", path)
		}
	}
}

func TestObjectsAreFresh(t *testing.T) {
	t.Parallel()

	definitions(t)[0].Labels["changed"] = "true"

	if slices.ContainsFunc(definitions(t), func(crd *apiextensionsv1.CustomResourceDefinition) bool {
		return crd.Labels["changed"] != ""
	}) {
		t.Error("A change by one caller must not reach the next")
	}
}

// opaque returns the paths of objects for which a schema knows no field and preserves none.
func opaque(path string, props apiextensionsv1.JSONSchemaProps) []string {
	var paths []string

	known := len(props.Properties) > 0 || props.AdditionalProperties != nil || props.XPreserveUnknownFields != nil
	if props.Type == "object" && !known && !strings.HasSuffix(path, ".metadata") {
		paths = append(paths, path)
	}

	for name, child := range props.Properties {
		paths = append(paths, opaque(path+"."+name, child)...)
	}

	if props.Items != nil && props.Items.Schema != nil {
		paths = append(paths, opaque(path+"[]", *props.Items.Schema)...)
	}

	return paths
}

func preservesUnknownFields(p apiextensionsv1.JSONSchemaProps) bool {
	return p.Type == "object" && p.XPreserveUnknownFields != nil && *p.XPreserveUnknownFields
}

func definitions(t *testing.T) []*apiextensionsv1.CustomResourceDefinition {
	t.Helper()

	objects, err := crds.Objects()
	if err != nil {
		t.Fatal(err)
	}

	definitions := make([]*apiextensionsv1.CustomResourceDefinition, 0, len(objects))

	for _, object := range objects {
		crd, ok := object.(*apiextensionsv1.CustomResourceDefinition)
		if !ok {
			t.Fatalf("%T is no custom resource definition", object)
		}

		groups := []string{gardenextensionsv1alpha1.GroupName, gardenmachinev1alpha1.GroupName, gardenresourcesv1alpha1.GroupName}
		if !slices.Contains(groups, crd.Spec.Group) {
			t.Fatalf("%q belongs to another group than its types", crd.Name)
		}

		definitions = append(definitions, crd)
	}

	return definitions
}
