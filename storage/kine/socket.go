// SPDX-License-Identifier: Apache-2.0

package kine

import (
	"fmt"
	"os"
	"path/filepath"
)

// maxSocketPath is what fits into sockaddr_un, without the closing zero byte.
const maxSocketPath = 107

// socketDir returns a folder in which every socket name fits, and what removes it again.
func socketDir(wanted string) (dir string, remove func() error, err error) {
	if len(filepath.Join(wanted, "objects.sock")) <= maxSocketPath {
		if err := os.MkdirAll(wanted, 0o700); err != nil {
			return "", nil, fmt.Errorf("make socket directory: %w", err)
		}

		return wanted, func() error { return nil }, nil
	}

	dir, err = os.MkdirTemp("", "terrarium-")
	if err != nil {
		return "", nil, fmt.Errorf("make a short socket directory, as %q is too long for one: %w", wanted, err)
	}
	if len(filepath.Join(dir, "objects.sock")) > maxSocketPath {
		return "", nil, fmt.Errorf("socket directory %q and temporary directory %q are both too long for a unix socket (%d bytes)",
			wanted, dir, maxSocketPath)
	}

	return dir, func() error { return os.RemoveAll(dir) }, nil
}
