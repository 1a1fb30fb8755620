// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// GardenletFieldsIgnored returns the paths of the fields of a gardenlet's configuration that have no effect yet, and neither
// have the fields below them. They are accepted so that configurations written for Gardener can be used.
func GardenletFieldsIgnored() []string {
	return []string{
		"controllers.backupBucket",
		"controllers.backupEntry",
		"controllers.managedSeed",
		"debugging",
		"etcdConfig",
		"exposureClassHandlers[].sni",
		"logging",
		"monitoring",
		"shootClientConnection.kubeconfig",
		"sni",
	}
}

// Ignored returns the paths of the ignored fields that are set in a configuration with its defaults: to another value than
// the default, and not just to disable something.
func (c *GardenletConfiguration) Ignored() ([]string, error) {
	usual := &GardenletConfiguration{}
	usual.SetDefaults()
	given, err := fieldsOf(c)
	if err != nil {
		return nil, err
	}
	defaults, err := fieldsOf(usual)
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, path := range GardenletFieldsIgnored() {
		value := said(at(given, path))
		if value != nil && !reflect.DeepEqual(value, said(at(defaults, path))) {
			paths = append(paths, path)
		}
	}

	return paths, nil
}

func fieldsOf(c *GardenletConfiguration) (map[string]any, error) {
	data, err := json.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("encode configuration of a gardenlet: %w", err)
	}
	fields := map[string]any{}
	if err := json.Unmarshal(data, &fields); err != nil {
		return nil, fmt.Errorf("decode configuration of a gardenlet: %w", err)
	}

	return fields, nil
}

// at returns the value at a path, nil if there is none.
func at(fields map[string]any, path string) any {
	name, rest, deeper := strings.Cut(path, ".")
	if list, each := strings.CutSuffix(name, "[]"); each {
		return ofEach(fields[list], rest)
	}
	if !deeper {
		return fields[name]
	}
	below, _ := fields[name].(map[string]any)

	return at(below, rest)
}

// ofEach returns what the entries of a list have at a path, without those that have nothing there.
func ofEach(list any, path string) any {
	entries, _ := list.([]any)
	var all []any
	for _, entry := range entries {
		below, _ := entry.(map[string]any)
		if value := said(at(below, path)); value != nil {
			all = append(all, value)
		}
	}

	return all
}

// said returns a value without the parts that are false, zero or empty; nil if that leaves nothing.
func said(value any) any {
	switch v := value.(type) {
	case map[string]any:
		rest := map[string]any{}
		for name, below := range v {
			if s := said(below); s != nil {
				rest[name] = s
			}
		}
		if len(rest) == 0 {
			return nil
		}

		return rest
	case []any:
		if len(v) == 0 {
			return nil
		}
	case bool:
		if !v {
			return nil
		}
	case string:
		if v == "" {
			return nil
		}
	case float64:
		if v == 0 {
			return nil
		}
	}

	return value
}
