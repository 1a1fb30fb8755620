// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/identity"
)

// savedConfig is where the configuration of a gardenlet that runs in this process is written, for its next start.
type savedConfig struct {
	path  string
	force bool
}

// check returns an error if a file with another configuration would be lost.
func (s savedConfig) check(config []byte) error {
	path, err := s.file(config)
	if err != nil {
		return err
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("look for configuration: %w", err)
	case !info.Mode().IsRegular():
		return fmt.Errorf("write configuration: %q is not a file", path)
	case s.force:
		return nil
	}
	is, err := os.ReadFile(path) //nolint:gosec // The path is the operator's own.
	if err != nil {
		return fmt.Errorf("look for configuration: %w", err)
	}
	if !bytes.Equal(is, config) {
		return withHint(fmt.Errorf("write configuration: %q exists with another content", path),
			"choose another file with --write-config, or overwrite it with --force")
	}
	return nil
}

// write writes the file in one step, readable only by its owner, and returns its path.
func (s savedConfig) write(config []byte) (string, error) {
	path, err := s.file(config)
	if err != nil {
		return "", err
	}
	if err := identity.WritePrivate(path, config); err != nil {
		return "", fmt.Errorf("write configuration: %w", err)
	}
	return path, nil
}

func (s savedConfig) file(config []byte) (string, error) {
	if s.path != "" {
		return s.path, nil
	}
	decoded, err := gardenconfigv1alpha1.DecodeGardenletConfiguration(config)
	if err != nil {
		return "", err
	}
	return "gardenlet-" + decoded.SeedConfig.Name + ".yaml", nil
}
