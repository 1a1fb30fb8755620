// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"
	"helm.sh/helm/v4/pkg/engine"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
)

const hookAnnotation = "helm.sh/hook"

// Release describes the installation that a chart is rendered for. Templates see it as .Release and
// .Capabilities.
type Release struct {
	// Name becomes .Release.Name.
	Name string
	// Namespace becomes .Release.Namespace. Objects are not moved there; templates do that.
	Namespace string
	// KubernetesVersion becomes .Capabilities.KubeVersion, for example v1.36.3.
	KubernetesVersion string
}

// Render returns the objects of the chart, those of crds/ first, then file by file; package deploy
// brings them into an order in which they can be created. Values override the chart's own ones.
// Hooks, notes and partials give no objects.
func (c *Chart) Render(release Release, values map[string]any) ([]*unstructured.Unstructured, error) {
	if values == nil {
		values = map[string]any{}
	}
	capabilities, err := capabilitiesOf(release.KubernetesVersion)
	if err != nil {
		return nil, err
	}
	if err := chartutil.ProcessDependencies(c.chart, values); err != nil {
		return nil, fmt.Errorf("%w: dependencies of chart %q: %w", ErrInvalid, c.Name(), err)
	}
	options := common.ReleaseOptions{Name: release.Name, Namespace: release.Namespace, IsInstall: true, Revision: 1}
	renderValues, err := util.ToRenderValues(c.chart, values, options, capabilities)
	if err != nil {
		return nil, fmt.Errorf("%w: values of chart %q: %w", ErrInvalid, c.Name(), err)
	}
	rendered, err := engine.Render(c.chart, renderValues)
	if err != nil {
		return nil, fmt.Errorf("%w: render chart %q: %w", ErrInvalid, c.Name(), err)
	}

	var objects []*unstructured.Unstructured
	for _, crd := range c.chart.CRDObjects() {
		decoded, err := decode(crd.Filename, string(crd.File.Data))
		if err != nil {
			return nil, err
		}
		objects = append(objects, decoded...)
	}
	for _, name := range slices.Sorted(maps.Keys(rendered)) {
		if base := path.Base(name); strings.HasPrefix(base, "_") || base == "NOTES.txt" {
			continue
		}
		decoded, err := decode(name, rendered[name])
		if err != nil {
			return nil, err
		}
		objects = append(objects, decoded...)
	}
	return objects, nil
}

func capabilitiesOf(version string) (*common.Capabilities, error) {
	capabilities := common.DefaultCapabilities.Copy()
	if version == "" {
		return capabilities, nil
	}
	parsed, err := common.ParseKubeVersion(version)
	if err != nil {
		return nil, fmt.Errorf("parse Kubernetes version %q: %w", version, err)
	}
	capabilities.KubeVersion = *parsed
	return capabilities, nil
}

// decode reads the documents of one rendered file. It leaves out empty ones and hooks, and replaces
// lists by their items.
func decode(name, content string) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	decoder := yaml.NewYAMLOrJSONDecoder(strings.NewReader(content), 4096)
	for {
		raw := map[string]any{}
		err := decoder.Decode(&raw)
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%w: file %q is not valid YAML: %w", ErrInvalid, name, err)
		}
		if len(raw) == 0 {
			continue
		}
		decoded, err := flatten(name, &unstructured.Unstructured{Object: raw})
		if err != nil {
			return nil, err
		}
		objects = append(objects, decoded...)
	}
}

func flatten(name string, object *unstructured.Unstructured) ([]*unstructured.Unstructured, error) {
	if object.GetKind() == "" || object.GetAPIVersion() == "" {
		return nil, fmt.Errorf("%w: file %q has an object without apiVersion or kind", ErrInvalid, name)
	}
	if object.IsList() {
		list, err := object.ToList()
		if err != nil {
			return nil, fmt.Errorf("%w: file %q: %w", ErrInvalid, name, err)
		}
		var objects []*unstructured.Unstructured
		for i := range list.Items {
			flat, err := flatten(name, &list.Items[i])
			if err != nil {
				return nil, err
			}
			objects = append(objects, flat...)
		}
		return objects, nil
	}
	if object.GetName() == "" {
		return nil, fmt.Errorf("%w: file %q has a %s without a name", ErrInvalid, name, object.GetKind())
	}
	if _, hook := object.GetAnnotations()[hookAnnotation]; hook {
		return nil, nil
	}
	return []*unstructured.Unstructured{object}, nil
}
