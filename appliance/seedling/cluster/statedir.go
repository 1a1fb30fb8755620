// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
)

// ResolveStateDir returns the absolute path of a state folder without symbolic links. The kernel knows mounts only by such
// paths. Elements that do not exist yet are kept as they are.
func ResolveStateDir(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("find state folder: %w", err)
	}
	missing := ""
	for existing := dir; ; existing = filepath.Dir(existing) {
		resolved, err := filepath.EvalSymlinks(existing)
		if err == nil {
			return filepath.Join(resolved, missing), nil
		}
		if !errors.Is(err, fs.ErrNotExist) || existing == filepath.Dir(existing) {
			return "", fmt.Errorf("find state folder: %w", err)
		}
		missing = filepath.Join(filepath.Base(existing), missing)
	}
}
