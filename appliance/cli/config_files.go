// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"os"
	"path/filepath"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/options"
)

// files reads configuration files. The path - stands for the standard input.
func (e Environment) files() options.Files {
	return options.Files{Read: func(path string) ([]byte, error) { return readInput(e, path) }, List: os.ReadDir}
}

// defaultFile returns the path of the configuration file of a role that is used by default; empty if there is no such file.
func (e Environment) defaultFile(role string) string {
	if e.ConfigDir == "" {
		return ""
	}
	return filepath.Join(e.ConfigDir, map[string]string{
		roleServer: options.ServerFile, roleGardenlet: options.GardenletFile,
	}[role])
}

// readGardenlet reads the configuration of a gardenlet with its drop-ins: that at path, or the default one if path is empty. Without any
// file, the layers are empty and the configuration is nil.
func readGardenlet(env Environment, path string) (*options.Layers, *gardenconfigv1alpha1.GardenletConfiguration, error) {
	source := options.Source{Path: path, Check: func(data []byte) error {
		_, err := gardenconfigv1alpha1.DecodeGardenletConfiguration(data)
		return err
	}}
	if path == "" {
		source.Path, source.Optional = env.defaultFile(roleGardenlet), true
	}
	if source.Path == "" {
		return nil, nil, nil
	}
	layers, err := options.ReadLayers(env.files(), source)
	if err != nil || layers.Empty() {
		return layers, nil, err
	}
	document, err := layers.Document()
	if err != nil {
		return nil, nil, err
	}
	config, err := gardenconfigv1alpha1.DecodeGardenletConfiguration(document)
	if err != nil {
		return nil, nil, fmt.Errorf("configuration files %s: %w", quotedList(layers.Names, ", "), err)
	}
	return layers, config, nil
}
