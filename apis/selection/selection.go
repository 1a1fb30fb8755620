// SPDX-License-Identifier: Apache-2.0

// Package selection registers the field selectors that clients may use for the objects of a kind. Every other field is
// rejected, so that a typing error never selects all objects.
package selection

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Fields that identify an object.
const (
	Name      = "metadata.name"
	Namespace = "metadata.namespace"
)

// Register allows the listed fields of each kind of a version, in addition to the name and the namespace.
func Register(scheme *runtime.Scheme, version schema.GroupVersion, fields map[string][]string) error {
	for kind, more := range fields {
		allowed := append([]string{Name, Namespace}, more...)
		if err := scheme.AddFieldLabelConversionFunc(version.WithKind(kind), only(kind, allowed)); err != nil {
			return fmt.Errorf("register field selectors of %q: %w", kind, err)
		}
	}

	return nil
}

func only(kind string, allowed []string) runtime.FieldLabelConversionFunc {
	return func(label, value string) (string, string, error) {
		if !slices.Contains(allowed, label) {
			return "", "", fmt.Errorf("%s has no field selector %q, use one of %q", kind, label, allowed)
		}

		return label, value, nil
	}
}
