// SPDX-License-Identifier: Apache-2.0

// Package crds holds the custom resource definitions of what a seed serves: the extension contract, machines and managed
// resources, generated from the types in apis/extensions, apis/machine and apis/resources. A gardenlet applies them to its seed.
package crds

import (
	"embed"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

//go:embed *.yaml
var files embed.FS

// Objects returns the definitions in the order of their names. Every call decodes them again, so the caller may change them.
func Objects() ([]client.Object, error) {
	entries, err := files.ReadDir(".")
	if err != nil {
		return nil, fmt.Errorf("read embedded definitions: %w", err)
	}
	objects := make([]client.Object, 0, len(entries))
	for _, entry := range entries {
		data, err := files.ReadFile(entry.Name())
		if err != nil {
			return nil, fmt.Errorf("read embedded definition %q: %w", entry.Name(), err)
		}
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict(data, crd); err != nil {
			return nil, fmt.Errorf("decode embedded definition %q: %w", entry.Name(), err)
		}
		objects = append(objects, crd)
	}
	return objects, nil
}
