// SPDX-License-Identifier: Apache-2.0

package node_test

import (
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terrarium-garden/terrarium/appliance/seedling/node"
)

func TestRemoveDeadSockets(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("/tmp", "sockets-") //nolint:usetesting // The name of a socket has to be short.
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	listen := func(name string) *net.UnixListener {
		listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, name), Net: "unix"})
		if err != nil {
			t.Fatal(err)
		}
		return listener
	}
	alive := listen("alive")
	defer alive.Close() //nolint:errcheck // The test is over.
	dead := listen("dead")
	dead.SetUnlinkOnClose(false) // as when its owner is killed
	if err := dead.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	removed, err := node.RemoveDeadSockets(t.Context(), dir)
	if diff := cmp.Diff([]string{filepath.Join(dir, "dead")}, removed); err != nil || diff != "" {
		t.Errorf("Only sockets without a listener are removed: error %v (-want +got):\n%s", err, diff)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(left) != 2 {
		t.Errorf("The others stay; left are %q, %v", left, err)
	}
}
