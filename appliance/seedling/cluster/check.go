// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"
)

// ErrCannotRun is the error when this machine cannot carry a cluster as it is.
var ErrCannotRun = errors.New("a seedling cannot run here")

// check looks for everything that a cluster needs, and tells of all that is missing at once.
func (c *Cluster) check(ctx context.Context) error {
	var missing []string
	if runtime.GOOS != "linux" {
		missing = append(missing, "Linux (this is "+runtime.GOOS+")")
	}
	if os.Geteuid() != 0 {
		missing = append(missing, "the rights of root")
	}
	for _, program := range []string{"containerd", "containerd-shim-runc-v2", "ctr", "runc", "nft", "mount", "umount"} {
		if _, err := exec.LookPath(program); err != nil {
			missing = append(missing, "the program "+program+" (scripts/prerequisites installs it)")
		}
	}
	for _, dir := range []struct{ path, purpose string }{{c.CNIDir, "network plugins"}, {c.ImagesDir, "images"}} {
		if _, err := os.Stat(dir.path); err != nil {
			missing = append(missing, fmt.Sprintf("the folder %q with the %s (make images builds it)", dir.path, dir.purpose))
		}
	}
	missing = append(missing, c.takenPorts(ctx)...)
	if len(missing) > 0 {
		return fmt.Errorf("%w; what is missing:\n\t%s", ErrCannotRun, strings.Join(missing, "\n\t"))
	}
	return nil
}

// takenPorts finds ports that a part which does not run yet would not get.
func (c *Cluster) takenPorts(ctx context.Context) []string {
	var taken []string
	for name, port := range map[string]int{
		partEtcd: etcdMetricsPort, partControllerManager: controllerManagerPort, partScheduler: schedulerPort,
		partKubelet: kubeletHealthPort, partProxy: proxyHealthPort, partAddons: addonsHealthPort, partDNS: dnsHealthPort,
	} {
		if _, alive, err := c.table.Find(name); err != nil || alive {
			continue
		}
		listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", local(port))
		if errors.Is(err, unix.EADDRINUSE) {
			taken = append(taken, fmt.Sprintf("the port %d for %s, which another program has", port, name))
		}
		if err == nil {
			_ = listener.Close()
		}
	}
	return taken
}

// lock keeps two commands from changing the cluster at the same time. The lock is on the folder itself, so
// there is no further file to remove, and the kernel gives it back if the holder dies.
func (c *Cluster) lock() (unlock func(), err error) {
	dir, err := os.Open(c.config.StateDir)
	if err != nil {
		return nil, fmt.Errorf("open state folder: %w", err)
	}
	if err := unix.Flock(int(dir.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, errors.Join(fmt.Errorf("another command changes the cluster in %q right now; wait for it to end: %w", c.config.StateDir, err), dir.Close())
	}
	return func() { _ = dir.Close() }, nil
}
