// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"fmt"
	"strings"

	"sigs.k8s.io/yaml"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/operation"
)

// configGroup is the API group of most configuration files of the server.
const configGroup = "apiserver.config.k8s.io"

// mostBytes is how much fits into one ConfigMap or Secret, with some room for its metadata. Each file of the owner alone has less.
const mostBytes = 900 << 10

// Unusable returns an error with the code ERR_CONFIGURATION_PROBLEM if the API server cannot be configured with what the owner of the
// shoot hands in. The garden has checked it more thoroughly; this is what must not depend on that.
func Unusable(f facts.Shoot) error {
	all, err := contents(f)
	if err != nil {
		return err
	}
	size := 0
	for _, content := range all {
		text, err := component.YAML(content)
		if err != nil {
			return err
		}
		size += len(text)
	}
	if size > mostBytes {
		return ConfigurationProblem("auditConfig", "together with the configurations of authentication, authorization and admission plugins, it has %d bytes, at most %d fit; shorten them", size, mostBytes)
	}
	files, err := kubeconfigs(f)
	if err != nil {
		return err
	}
	size = 0
	for _, content := range files {
		size += len(content)
	}
	if size > mostBytes {
		return ConfigurationProblem(fieldPlugins, "together with those of authorizers, the kubeconfigs have %d bytes, at most %d fit; shorten them", size, mostBytes)
	}
	return nil
}

// ConfigurationProblem is an error that only the owner of the shoot can correct. It names a field of kubeAPIServer.
func ConfigurationProblem(field, format string, args ...any) error {
	err := fmt.Errorf("spec.kubernetes.kubeAPIServer."+field+": "+format, args...)
	return operation.WithCodes(err, gardencorev1beta1.ErrorCodeConfigurationProblem)
}

// document reads a configuration of a group and kind. What was read is written again, so that the server reads exactly what was looked
// at here. Its content is not quoted.
func document(field, text, group, kind string) (map[string]any, error) {
	config := map[string]any{}
	if err := yaml.UnmarshalStrict([]byte(text), &config); err != nil {
		return nil, ConfigurationProblem(field, "the ConfigMap has no valid YAML: %w; correct it", err)
	}
	version, _ := config["apiVersion"].(string)
	if of, _, _ := strings.Cut(version, "/"); of != group || config["kind"] != kind {
		return nil, ConfigurationProblem(field, "the ConfigMap must have an object of kind %s of group %s; correct its apiVersion and kind", kind, group)
	}
	return config, nil
}

// listIn returns the objects of a list in a configuration.
func listIn(field string, config map[string]any, key string) ([]map[string]any, error) {
	if config[key] == nil {
		return nil, nil
	}
	items, ok := config[key].([]any)
	if !ok {
		return nil, ConfigurationProblem(field, "%s must be a list", key)
	}
	list := make([]map[string]any, 0, len(items))
	for i := range items {
		item, ok := items[i].(map[string]any)
		if !ok {
			return nil, ConfigurationProblem(field, "%s[%d] must be an object", key, i)
		}
		list = append(list, item)
	}
	return list, nil
}
