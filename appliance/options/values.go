// SPDX-License-Identifier: Apache-2.0

package options

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
)

// OriginDefault is the origin of a value that neither a file nor a flag has set.
const OriginDefault = "default"

// Value is one value of a configuration.
type Value struct {
	// Path is the path of the value, such as tokens.defaultLifetime.
	Path string `json:"path"`
	// Value is the value in JSON.
	Value string `json:"value"`
	// Origin is the file or the flag that has set it, or OriginDefault.
	Origin string `json:"origin"`
}

// Values lists the values of a configuration, ordered by path. origin returns the file or flag of a path, or nothing.
func Values(config any, origin func(path string) string) ([]Value, error) {
	data, err := json.Marshal(config)
	if err != nil {
		return nil, fmt.Errorf("encode configuration: %w", err)
	}
	var document map[string]any
	if err := json.Unmarshal(data, &document); err != nil {
		return nil, fmt.Errorf("decode configuration: %w", err)
	}
	var values []Value
	if err := listValues(&values, "", document); err != nil {
		return nil, err
	}
	for i := range values {
		if values[i].Origin = origin(values[i].Path); values[i].Origin == "" {
			values[i].Origin = OriginDefault
		}
	}
	return values, nil
}

// listValues appends what is not an object, and empty objects below a field.
func listValues(values *[]Value, path string, value any) error {
	object, isObject := value.(map[string]any)
	if !isObject {
		data, err := json.Marshal(value)
		if err != nil {
			return fmt.Errorf("encode %q: %w", path, err)
		}
		*values = append(*values, Value{Path: path, Value: string(data)})
		return nil
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		if err := listValues(values, joinPath(path, key), object[key]); err != nil {
			return err
		}
	}
	return nil
}

// WithoutSecrets returns a copy of a configuration that may be shown. The URL of a datastore can have a password in several places, so
// only its kind is left.
func WithoutSecrets(c *gardenconfigv1alpha1.ServerConfiguration) *gardenconfigv1alpha1.ServerConfiguration {
	shown := c.DeepCopy()
	shown.APIVersion, shown.Kind = gardenconfigv1alpha1.ServerGroupVersion.String(), "ServerConfiguration"
	if shown.Datastore.Endpoint != "" {
		kind, _, _ := strings.Cut(shown.Datastore.Endpoint, ":")
		shown.Datastore.Endpoint = kind + "://[redacted]"
	}
	return shown
}
