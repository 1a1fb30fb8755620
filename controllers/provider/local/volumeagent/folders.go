// SPDX-License-Identifier: Apache-2.0

package volumeagent

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// folders are those of the volumes, inside of one that all machines have. Nothing outside of it is reached, whatever links are in it.
type folders struct{ dir string }

// make makes a folder that every user of a pod may write into. The one around it is closed, so that no other user of the machine can
// change what is in it.
func (f folders) make(name string) error {
	root, err := os.OpenRoot(f.dir)
	if err != nil {
		return fmt.Errorf("open folder of volumes: %w", err)
	}
	defer root.Close() //nolint:errcheck // nothing is written through it

	if err := root.Chmod(".", 0o700); err != nil {
		return fmt.Errorf("close folder of volumes: %w", err)
	}
	if err := root.Mkdir(name, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("make folder of volume: %w", err)
	}
	info, err := root.Lstat(name)
	if err != nil {
		return fmt.Errorf("look at folder of volume: %w", err)
	}
	if !info.IsDir() {
		return fmt.Errorf("folder of volume %q: something else has its name", name)
	}
	if err := root.Chmod(name, 0o777); err != nil {
		return fmt.Errorf("open folder of volume: %w", err)
	}
	return nil
}

// remove removes a folder with all that is in it, without following links.
func (f folders) remove(name string) error {
	root, err := os.OpenRoot(f.dir)
	if err != nil {
		return fmt.Errorf("open folder of volumes: %w", err)
	}
	defer root.Close() //nolint:errcheck // nothing is written through it
	if err := root.RemoveAll(name); err != nil {
		return fmt.Errorf("remove folder of volume: %w", err)
	}
	return nil
}
