// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/apiserver/audit"
	"github.com/terrarium-garden/terrarium/appliance/gardenlet"
	"github.com/terrarium-garden/terrarium/appliance/options"
)

func newConfigValidateCommand(env Environment) *cobra.Command {
	return &cobra.Command{
		Use:   "validate [FILE]",
		Short: "Validate the configuration file of a server or a gardenlet",
		Long: `Validates a configuration file and its drop-ins FILE.d/*.yaml with the same checks as the role that reads them, and prints the
paths of unknown fields, values of the wrong type and values out of range, and of files that do not exist. The role follows from
apiVersion and kind of the file. Use - to read from the standard input. Without FILE, it validates the files that the roles use by
default.`,
		Example: `  terrarium config validate
  terrarium config validate /etc/terrarium/server.yaml`,
		Args: atMost(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return validateDefaultFiles(env)
			}
			return validateFile(env, args[0])
		},
	}
}

// validateDefaultFiles validates the default files that exist.
func validateDefaultFiles(env Environment) error {
	var missing []string
	var errs []error
	roles := []string{roleServer, roleGardenlet}
	for _, role := range roles {
		path := env.defaultFile(role)
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			missing = append(missing, path)
			continue
		}
		errs = append(errs, validateFile(env, path))
	}
	if len(missing) == len(roles) {
		return fmt.Errorf("no configuration: neither %s exists", quotedList(missing, " nor "))
	}
	return errors.Join(errs...)
}

func validateFile(env Environment, path string) error {
	data, err := readInput(env, path)
	if err != nil {
		return err
	}
	kind, ignored, err := validateConfig(data)
	if err != nil && kind == "" {
		return fmt.Errorf("configuration file %q: %w", path, err)
	}
	// The standard input is read once.
	files := env.files()
	files.Read = func(name string) ([]byte, error) {
		if name == path {
			return data, nil
		}
		return readInput(env, name)
	}
	layers, mergedErr := options.ReadLayers(files, options.Source{Path: path, Check: func(data []byte) error { return checkFields(kind, data) }})
	if mergedErr != nil {
		return mergedErr
	}
	if len(layers.Names) > 1 {
		if data, err = layers.Document(); err != nil {
			return err
		}
		if _, ignored, err = validateConfig(data); err != nil {
			return fmt.Errorf("configuration files %s: %w", quotedList(layers.Names, ", "), err)
		}
	}
	if err != nil {
		return fmt.Errorf("configuration file %q: %w", path, err)
	}
	unreadable, err := checkNamedFiles(kind, data)
	if err != nil {
		return fmt.Errorf("configuration %s: %w", quotedList(layers.Names, ", "), err)
	}
	for _, path := range ignored {
		env.tell("Warning: %s has no effect yet\n", path)
	}
	for _, why := range unreadable {
		env.tell("Warning: not checked: %v\n", why)
	}
	env.tell("%s in %s is valid.\n", kind, quotedList(layers.Names, ", "))
	return nil
}

// checkNamedFiles checks the files that the configuration of a server names, and the policy in one of them. It returns separately those that
// this user must not read. A gardenlet may run elsewhere.
func checkNamedFiles(kind string, data []byte) (unreadable []error, err error) {
	if kind != "ServerConfiguration" {
		return nil, nil
	}
	config, err := gardenconfigv1alpha1.DecodeServerConfiguration(data)
	if err != nil {
		return nil, err
	}
	wrong, unreadable := options.CheckFiles(config)
	if policy, used := options.AuditPolicy(config); used && policy.Check() == nil {
		if _, err := audit.Policy(policy.Name); err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %w", policy.Path, err))
		}
	}
	return unreadable, errors.Join(wrong...)
}

// checkFields checks the fields of one file of a configuration of the given kind.
func checkFields(kind string, data []byte) error {
	var err error
	if kind == "ServerConfiguration" {
		_, err = gardenconfigv1alpha1.DecodeServerConfiguration(data)
	} else {
		_, err = gardenconfigv1alpha1.DecodeGardenletConfiguration(data)
	}
	return err
}

func readInput(env Environment, path string) ([]byte, error) {
	if path == "-" {
		return io.ReadAll(env.In)
	}
	return os.ReadFile(path) //nolint:gosec // the user's own choice
}

// validateConfig returns the kind of a configuration, the paths of fields that have no effect yet, and the errors of the
// configuration. The kind is empty if the document is not a configuration.
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
			return meta.Kind, nil, err
		}
		ignored, err := config.Ignored()
		return meta.Kind, ignored, err
	}
	return "", nil, fmt.Errorf("apiVersion %q is neither %q (server) nor %q (gardenlet)",
		meta.APIVersion, gardenconfigv1alpha1.ServerGroupVersion, gardenconfigv1alpha1.GardenletGroupVersion)
}
