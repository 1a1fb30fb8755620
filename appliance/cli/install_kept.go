// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"

	"sigs.k8s.io/yaml"

	"github.com/terrarium-garden/terrarium/appliance/install"
	"github.com/terrarium-garden/terrarium/appliance/options"
)

// filesBelow reads the files of a machine whose file system is below a directory.
func filesBelow(root string) options.Files {
	return options.Files{
		Read: func(path string) ([]byte, error) { return os.ReadFile(filepath.Join(root, path)) }, //nolint:gosec // A path of the configuration.
		List: func(dir string) ([]fs.DirEntry, error) { return os.ReadDir(filepath.Join(root, dir)) },
	}
}

// checkKept returns an error if the flags ask for a configuration and the machine keeps another one, so that they would have no effect. In a
// dry run, a configuration that this user may not read is not compared.
func (o *installOptions) checkKept(machine install.Machine, plan install.Options) error {
	files := filesBelow(filepath.Join(machine.Root, o.root))
	var err error
	switch {
	case o.configFile != "":
		err = o.compareFile(files, plan)
	case o.listen != "" || len(o.externalAddresses) > 0:
		err = o.compareValues(files)
	}
	if o.dryRun && errors.Is(err, fs.ErrPermission) {
		o.env.tell("Warning: whether the configuration that exists is the wanted one is not known: %v\n", err)
		return nil
	}
	return err
}

// compareFile compares whole files.
func (o *installOptions) compareFile(files options.Files, plan install.Options) error {
	for _, f := range plan.Configuration {
		there, err := files.Read(f.Path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("read configuration: %w", err)
		}
		var is, wanted any
		if yaml.Unmarshal(there, &is) != nil || yaml.Unmarshal(f.Content, &wanted) != nil || !reflect.DeepEqual(is, wanted) {
			return withHint(fmt.Errorf("--config: %s exists and has another content, and it is kept", f.Path),
				"edit that file and restart the service, or leave out --config")
		}
	}
	return nil
}

// compareValues compares the values of the flags with those that the server will have from the file that exists and its drop-ins.
func (o *installOptions) compareValues(files options.Files) error {
	path := o.configPath()
	layers, config, err := readServer(files, path)
	if err != nil {
		return err
	}
	var errs []error
	differs := func(flag, field string, is, wanted any) {
		origin := layers.Origin(field)
		if origin == "" && !slices.Contains(layers.Names, path) {
			return // A new file will have it.
		}
		if origin == "" {
			origin = path
		}
		errs = append(errs, fmt.Errorf("--%s: the machine has a configuration, which is kept, with %q instead of %q; edit %s", flag, is, wanted, origin))
	}
	if o.listen != "" && o.listen != config.Listen {
		differs("listen", "listen", config.Listen, o.listen)
	}
	if len(o.externalAddresses) > 0 && !slices.Equal(o.externalAddresses, config.ExternalAddresses) {
		differs("external-address", "externalAddresses", config.ExternalAddresses, o.externalAddresses)
	}
	if len(errs) == 0 {
		return nil
	}
	return withHint(errors.Join(errs...), "edit the configuration and restart the service, or leave out the flags")
}
