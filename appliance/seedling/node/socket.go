// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"syscall"
)

// RemoveDeadSockets removes the sockets in a folder on which no process listens any more, because it was killed. It
// returns their paths.
func RemoveDeadSockets(ctx context.Context, folder string) ([]string, error) {
	paths, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil {
		return nil, fmt.Errorf("list sockets: %w", err)
	}
	var removed []string
	var failed []error
	for _, path := range paths {
		connection, err := (&net.Dialer{}).DialContext(ctx, "unix", path)
		if err == nil {
			failed = append(failed, connection.Close())
			continue
		}
		if !errors.Is(err, syscall.ECONNREFUSED) {
			continue // not a socket, or its state is unknown
		}
		if info, err := os.Lstat(path); err != nil || info.Mode().Type() != os.ModeSocket {
			continue
		}
		failed = append(failed, os.Remove(path))
		removed = append(removed, path)
	}
	return removed, errors.Join(failed...)
}
