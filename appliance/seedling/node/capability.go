// SPDX-License-Identifier: Apache-2.0

package node

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// MayRaiseLimits reports whether this process has CAP_SYS_RESOURCE. Without it no child process can have a better
// out-of-memory score than its parent, and a container runtime must be configured accordingly.
func MayRaiseLimits() (bool, error) {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&header, &data[0]); err != nil {
		return false, fmt.Errorf("read capabilities of this process: %w", err)
	}
	return data[unix.CAP_SYS_RESOURCE/32].Effective&(1<<(unix.CAP_SYS_RESOURCE%32)) != 0, nil
}
