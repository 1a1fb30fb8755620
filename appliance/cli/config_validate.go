// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/gardenlet"
	"github.com/terrarium-garden/terrarium/appliance/options"
)

func newConfigValidateCommand(env Environment) *cobra.Command {
	return &cobra.Command{
		Use:   "validate FILE",
		Short: "Validate the configuration file of a server or a gardenlet",
		Long: `Validates a configuration file with the same checks as the role that reads it, and prints the paths of unknown fields,
values of the wrong type and values out of range. The role follows from apiVersion and kind of the file. Use - to read
from the standard input.`,
		Example: "  terrarium config validate /etc/terrarium/server.yaml",
		Args:    exactly("FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			data, err := readInput(env, args[0])
			if err != nil {
				return err
			}
			kind, ignored, err := validateConfig(data)
			if err != nil {
				return fmt.Errorf("configuration file %q: %w", args[0], err)
			}
			for _, path := range ignored {
				env.tell("Warning: %s has no effect yet\n", path)
			}
			env.tell("%s in %q is valid.\n", kind, args[0])
			return nil
		},
	}
}

func readInput(env Environment, path string) ([]byte, error) {
	if path == "-" {
		return io.ReadAll(env.In)
	}
	return os.ReadFile(path) //nolint:gosec // the user's own choice
}

// validateConfig returns the kind of a configuration, the paths of fields that have no effect yet, and the errors of the
// configuration.
func validateConfig(data []byte) (kind string, ignored []string, err error) {
	var meta runtime.TypeMeta
	if err := yaml.Unmarshal(data, &meta); err != nil {
		return "", nil, fmt.Errorf("read YAML: %w", err)
	}
	switch meta.GroupVersionKind().GroupVersion() {
	case gardenconfigv1alpha1.ServerGroupVersion:
		config, err := gardenconfigv1alpha1.DecodeServerConfiguration(data)
		if err != nil {
			return "", nil, err
		}
		return meta.Kind, nil, errors.Join(options.ValidateServer(config)...)
	case gardenconfigv1alpha1.GardenletGroupVersion:
		config, err := gardenconfigv1alpha1.DecodeGardenletConfiguration(data)
		if err != nil {
			return "", nil, err
		}
		if err := errors.Join(gardenlet.ValidateConfig(config)...); err != nil {
			return "", nil, err
		}
		ignored, err := config.Ignored()
		return meta.Kind, ignored, err
	}
	return "", nil, fmt.Errorf("apiVersion %q is neither %q (server) nor %q (gardenlet)",
		meta.APIVersion, gardenconfigv1alpha1.ServerGroupVersion, gardenconfigv1alpha1.GardenletGroupVersion)
}
