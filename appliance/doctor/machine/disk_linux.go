// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"syscall"

	"github.com/terrarium-garden/terrarium/appliance/doctor"
)

// Disk returns the space on the disk of a directory, nil if the system does not tell.
func Disk(dir string) *doctor.Disk {
	var at syscall.Statfs_t
	if err := syscall.Statfs(dir, &at); err != nil {
		return nil
	}
	size := uint64(at.Bsize) //nolint:gosec // The size of a block is positive.

	return &doctor.Disk{
		Path: dir, FreeBytes: at.Bavail * size, TotalBytes: at.Blocks * size, FreeFiles: at.Ffree, TotalFiles: at.Files,
	}
}

// What the kernel says about its clock.
const (
	clockError     = 5
	unsynchronized = 0x40
)

func synchronized() (known, is bool) {
	var timex syscall.Timex
	state, err := syscall.Adjtimex(&timex)

	return err == nil, err == nil && state != clockError && timex.Status&unsynchronized == 0
}
