// SPDX-License-Identifier: Apache-2.0

package images_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// busyScript stands for a debootstrap that mounts the kernel's file systems into its folder, as the real one does, and installs for long.
const busyScript = `#!/bin/sh
set -e
while [ $# -gt 2 ]; do shift; done
mkdir "$1/proc"
mount -t tmpfs none "$1/proc"
sleep 1000 &
echo "$!" >READY
wait
`

// TestInterruptLeavesNothing ends an installation in the middle: neither its mounts nor its processes outlive it, so that its folder goes.
func TestInterruptLeavesNothing(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 || exec.CommandContext(t.Context(), "unshare", "--mount", "true").Run() != nil {
		t.Skip("only root can mount")
	}
	rootfs := newBuilder(t).Sources.Rootfs
	ready := filepath.Join(t.TempDir(), "ready")
	if err := syscall.Mkfifo(ready, 0o600); err != nil {
		t.Fatal(err)
	}
	write(t, rootfs.Debootstrap, strings.ReplaceAll(busyScript, "READY", ready), 0o755)
	ctx, interrupt := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := rootfs.Layer(ctx)
		ended <- err
	}()
	said, err := os.ReadFile(ready)
	if err != nil {
		t.Fatal(err)
	}
	installing, err := strconv.Atoi(strings.TrimSpace(string(said)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cleanUp(installing, rootfs.CacheDir) })
	interrupt()
	if err := <-ended; err == nil {
		t.Fatal("the installation has succeeded")
	}
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(mounts), rootfs.CacheDir) {
		t.Error("a mount of the installation is left")
	}
	// A process that has ended may not have been collected yet; then it has no command line.
	if command, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(installing), "cmdline")); err == nil && len(command) > 0 {
		t.Errorf("a process of the installation is left: %q", command)
	}
	leftovers, err := filepath.Glob(filepath.Join(rootfs.CacheDir, "*"))
	if err != nil || len(leftovers) > 0 {
		t.Errorf("folders of the installation are left: %q, %v", leftovers, err)
	}
}

// cleanUp takes away what a failed test has left, which would be in the way of the others.
func cleanUp(process int, cache string) {
	left, _ := filepath.Glob(filepath.Join(cache, "*", "proc"))
	for _, mount := range left {
		_ = syscall.Kill(process, syscall.SIGKILL)
		_ = syscall.Unmount(mount, syscall.MNT_DETACH)
	}
}
