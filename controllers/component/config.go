// SPDX-License-Identifier: Apache-2.0

package component

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// Checksum returns the annotation with a short hash of texts. It is put on pod templates, so that pods are replaced when
// their configuration changes under an unchanged name.
func Checksum(name string, texts ...string) map[string]string {
	h := sha256.New()
	for _, text := range texts {
		h.Write([]byte(text))
		h.Write([]byte{0})
	}
	return map[string]string{"checksum/" + name: hex.EncodeToString(h.Sum(nil))[:16]}
}

// YAML writes a configuration file.
func YAML(config any) (string, error) {
	data, err := yaml.Marshal(config)
	if err != nil {
		return "", fmt.Errorf("write configuration: %w", err)
	}
	return string(data), nil
}

// Flag returns a flag with its value, or nothing if the value is not set.
func Flag[T any](name string, value *T) []string {
	if value == nil {
		return nil
	}
	return []string{fmt.Sprintf("--%s=%v", name, *value)}
}

// Switches returns a flag that lists in order what is on and what is off, or nothing if there is nothing to list.
func Switches(name string, switches map[string]bool) []string {
	if len(switches) == 0 {
		return nil
	}
	list := make([]string, 0, len(switches))
	for _, key := range slices.Sorted(maps.Keys(switches)) {
		list = append(list, fmt.Sprintf("%s=%t", key, switches[key]))
	}
	return []string{"--" + name + "=" + strings.Join(list, ",")}
}
