// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// lock prevents two commands from changing the cluster at the same time. The file is beside the run folder, because neither
// folder of the cluster exists all the time. It is removed at the end, and the kernel releases a lock whose holder was killed.
func (c *Cluster) lock() (unlock func(), err error) {
	path := c.config.RunDir + ".lock"
	for {
		file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|unix.O_NOFOLLOW, 0o600) //nolint:gosec // The path belongs to the cluster.
		if err != nil {
			return nil, fmt.Errorf("open lock of the cluster: %w", err)
		}
		if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
			return nil, errors.Join(fmt.Errorf("another command changes the cluster in %q at the moment; wait until it ends: %w", c.config.StateDir, err), file.Close())
		}
		if isAt(file, path) {
			return func() { _ = os.Remove(path); _ = file.Close() }, nil
		}
		// The former holder removed the file after it was opened here.
		if err := file.Close(); err != nil {
			return nil, fmt.Errorf("close lock of the cluster: %w", err)
		}
	}
}

// isAt reports whether the open file is the one at the path.
func isAt(file *os.File, path string) bool {
	opened, err := file.Stat()
	if err != nil {
		return false
	}
	current, err := os.Lstat(path)
	return err == nil && os.SameFile(opened, current)
}
