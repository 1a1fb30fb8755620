// SPDX-License-Identifier: Apache-2.0

package node

import (
	"fmt"
	"os"
)

// NetworkNamespace identifies the network namespace of this process, until the next boot.
func NetworkNamespace() (string, error) {
	name, err := os.Readlink("/proc/thread-self/ns/net")
	if err != nil {
		return "", fmt.Errorf("find out the network namespace: %w", err)
	}
	return name, nil
}
