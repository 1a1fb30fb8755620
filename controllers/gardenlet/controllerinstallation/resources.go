// SPDX-License-Identifier: Apache-2.0

package controllerinstallation

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"

	gardencorev1 "github.com/terrarium-garden/terrarium/apis/core/v1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

const (
	kindSecret    = "Secret"
	kindConfigMap = "ConfigMap"
	// resourceForm is the one form in which values refer to the data of a resource.
	resourceForm = "{{ .resources.<name>.data.<key> }}"
)

// Substitute returns a copy of the values in which the data that lookUp returns stands for each {{ .resources.<name>.data.<key> }}
// (EXT-REG-8). There is nothing else of the language of templates: other text in braces stays, as a chart may have a use for it, and data is
// not looked into again.
func Substitute(values map[string]any, lookUp func(name, key string) (string, error)) (map[string]any, error) {
	s := &substitution{
		braces: regexp.MustCompile(`\{\{[^{}]*\}\}`),
		form:   regexp.MustCompile(`^\{\{\s*\.resources\.([-_A-Za-z0-9]+)\.data\.([-._A-Za-z0-9]+)\s*\}\}$`),
		lookUp: lookUp,
	}
	return s.table(values)
}

type substitution struct {
	braces, form *regexp.Regexp
	lookUp       func(name, key string) (string, error)
}

// table goes through the keys in their order, so that of several errors it is always the same that is told.
func (s *substitution) table(values map[string]any) (map[string]any, error) {
	filled := make(map[string]any, len(values))
	for _, key := range slices.Sorted(maps.Keys(values)) {
		value, err := s.value(values[key])
		if err != nil {
			return nil, err
		}
		filled[key] = value
	}
	return filled, nil
}

func (s *substitution) value(value any) (any, error) {
	switch typed := value.(type) {
	case string:
		return s.text(typed)
	case map[string]any:
		return s.table(typed)
	case []any:
		filled := make([]any, 0, len(typed))
		for _, item := range typed {
			one, err := s.value(item)
			if err != nil {
				return nil, err
			}
			filled = append(filled, one)
		}
		return filled, nil
	default:
		return value, nil
	}
}

func (s *substitution) text(text string) (string, error) {
	var failed error
	filled := s.braces.ReplaceAllStringFunc(text, func(found string) string {
		if failed != nil || !strings.HasPrefix(strings.TrimLeft(found, "{- \t\r\n"), ".resources.") {
			return found
		}
		parts := s.form.FindStringSubmatch(found)
		if parts == nil {
			failed = fmt.Errorf("values have %s, and only %s is possible", found, resourceForm)
			return found
		}
		data, err := s.lookUp(parts[1], parts[2])
		if err != nil {
			failed = fmt.Errorf("values have %s: %w", found, err)
			return found
		}
		return data
	})
	return filled, failed
}

// fill puts the data of resources into the values of the deployment. Only resources that the values refer to are read.
func (r *Reconciler) fill(ctx context.Context, s *scope) (map[string]any, error) {
	read := map[string]map[string]string{}
	return Substitute(s.values, func(name, key string) (string, error) {
		index := slices.IndexFunc(s.deployment.Resources, func(resource gardencorev1.NamedResourceReference) bool { return resource.Name == name })
		if index < 0 {
			return "", fmt.Errorf("controller deployment %q has no resource %q", s.deployment.Name, name)
		}
		ref := s.deployment.Resources[index].ResourceRef
		if _, ok := read[name]; !ok {
			data, err := r.resourceData(ctx, ref.Kind, ref.Name)
			if err != nil {
				return "", err
			}
			read[name] = data
			s.confidential = s.confidential || ref.Kind == kindSecret
		}
		value, ok := read[name][key]
		switch {
		case !ok:
			return "", fmt.Errorf("no key %q in %s %q in namespace %q of the garden", key, ref.Kind, ref.Name, gardencorev1beta1.NamespaceGarden)
		case !utf8.ValidString(value):
			return "", fmt.Errorf("no text in key %q of %s %q in namespace %q of the garden", key, ref.Kind, ref.Name, gardencorev1beta1.NamespaceGarden)
		default:
			return value, nil
		}
	})
}

// resourceData returns the data of a Secret or ConfigMap that is a resource of extensions.
func (r *Reconciler) resourceData(ctx context.Context, kind, name string) (map[string]string, error) {
	if kind == kindConfigMap {
		object := &corev1.ConfigMap{}
		err := r.readRole(ctx, object, name, gardencorev1beta1.RoleResourceReference)
		return object.Data, err
	}
	object := &corev1.Secret{}
	if err := r.readRole(ctx, object, name, gardencorev1beta1.RoleResourceReference); err != nil {
		return nil, err
	}
	data := make(map[string]string, len(object.Data))
	for key, value := range object.Data {
		data[key] = string(value)
	}
	return data, nil
}
