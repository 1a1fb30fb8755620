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

// localServer returns the configuration of the server of this machine that has a data directory; if that is empty, the one that the default
// configuration file is for. Other servers have the defaults: nobody knows with which flags they run.
func (e Environment) localServer(dataDir string) (*gardenconfigv1alpha1.ServerConfiguration, error) {
	_, config, err := readServer(e.files(), e.defaultFile(roleServer))
	if err == nil && (dataDir == "" || filepath.Clean(dataDir) == filepath.Clean(config.DataDir)) {
		return config, nil
	}
	other := &gardenconfigv1alpha1.ServerConfiguration{DataDir: dataDir}
	other.SetDefaults()
	if dataDir != "" {
		return other, nil
	}
	return other, err
}

// readServer reads the configuration of a server at a path, which may be empty, with its drop-ins. Without any file, it has the defaults and
// the layers are empty.
func readServer(files options.Files, path string) (*options.Layers, *gardenconfigv1alpha1.ServerConfiguration, error) {
	config := &gardenconfigv1alpha1.ServerConfiguration{}
	config.SetDefaults()
	if path == "" {
		return nil, config, nil
	}
	layers, err := options.ReadLayers(files, options.Source{Path: path, Optional: true, Check: func(data []byte) error {
		_, err := gardenconfigv1alpha1.DecodeServerConfiguration(data)
		return err
	}})
	if err != nil {
		return nil, nil, fmt.Errorf("read configuration of the server: %w", err)
	}
	if layers.Empty() {
		return layers, config, nil
	}
	document, err := layers.Document()
	if err != nil {
		return nil, nil, err
	}
	if config, err = gardenconfigv1alpha1.DecodeServerConfiguration(document); err != nil {
		return nil, nil, fmt.Errorf("configuration files %s: %w", quotedList(layers.Names, ", "), err)
	}
	return layers, config, nil
}
