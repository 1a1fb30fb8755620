// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"errors"
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// ErrWrongKind says that a document is not the configuration that was asked for.
var ErrWrongKind = errors.New("wrong kind of configuration")

// DecodeGardenletConfiguration reads a gardenlet's configuration file, in YAML or JSON, and fills in the defaults. The
// error names each field that is unknown or of the wrong type by its path.
func DecodeGardenletConfiguration(data []byte) (*GardenletConfiguration, error) {
	config := &GardenletConfiguration{}
	if err := decode(data, config, GardenletGroupVersion.WithKind("GardenletConfiguration")); err != nil {
		return nil, fmt.Errorf("decode gardenlet configuration: %w", err)
	}

	config.SetDefaults()

	return config, nil
}

// DecodeServerConfiguration reads a server's configuration file, in YAML or JSON, and fills in the defaults. The error
// names each field that is unknown or of the wrong type by its path.
func DecodeServerConfiguration(data []byte) (*ServerConfiguration, error) {
	config := &ServerConfiguration{}
	if err := decode(data, config, ServerGroupVersion.WithKind("ServerConfiguration")); err != nil {
		return nil, fmt.Errorf("decode server configuration: %w", err)
	}

	config.SetDefaults()

	return config, nil
}

// EncodeGardenletConfiguration writes a configuration in YAML, with its kind, so that it can be decoded again.
func EncodeGardenletConfiguration(config *GardenletConfiguration) ([]byte, error) {
	return encode(config.DeepCopy(), GardenletGroupVersion.WithKind("GardenletConfiguration"))
}

// EncodeServerConfiguration writes a configuration in YAML, with its kind, so that it can be decoded again.
func EncodeServerConfiguration(config *ServerConfiguration) ([]byte, error) {
	return encode(config.DeepCopy(), ServerGroupVersion.WithKind("ServerConfiguration"))
}

func encode(config runtime.Object, gvk schema.GroupVersionKind) ([]byte, error) {
	config.GetObjectKind().SetGroupVersionKind(gvk)

	data, err := yaml.Marshal(config)
	if err != nil {
		return nil, fmt.Errorf("encode %q: %w", gvk.Kind, err)
	}

	return data, nil
}

func decode(data []byte, config runtime.Object, want schema.GroupVersionKind) error {
	// Strict conversion refuses a key that is given twice.
	document, err := yaml.YAMLToJSONStrict(data)
	if err != nil {
		return fmt.Errorf("read YAML: %w", err)
	}

	var kind runtime.TypeMeta
	if err := json.UnmarshalCaseSensitivePreserveInts(document, &kind); err != nil {
		return fmt.Errorf("read apiVersion and kind: %w", err)
	}

	apiVersion, wantedKind := want.ToAPIVersionAndKind()
	if kind.APIVersion != apiVersion || kind.Kind != wantedKind {
		return fmt.Errorf("%w: got apiVersion %q and kind %q, want apiVersion %q and kind %q",
			ErrWrongKind, kind.APIVersion, kind.Kind, apiVersion, wantedKind)
	}

	if err := errors.Join(mismatches("", reflect.TypeOf(config).Elem(), document)...); err != nil {
		return err
	}

	if err := json.UnmarshalCaseSensitivePreserveInts(document, config); err != nil {
		return fmt.Errorf("read fields: %w", err)
	}

	return nil
}
