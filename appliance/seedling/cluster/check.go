// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/terrarium-garden/terrarium/appliance/seedling/node"
)

// ErrCannotRun says that this machine does not meet the requirements of a cluster.
var ErrCannotRun = errors.New("a seedling cannot run here")

// check checks all requirements of a cluster, and reports everything that is missing.
func (c *Cluster) check(ctx context.Context) error {
	var missing []string
	if runtime.GOOS != "linux" {
		missing = append(missing, "Linux (this is "+runtime.GOOS+")")
	}
	if os.Geteuid() != 0 {
		missing = append(missing, "root privileges")
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
	if _, err := LoadConfig(c.config.StateDir); errors.Is(err, ErrNoSeedling) {
		overlaps, err := c.overlaps()
		if err != nil {
			return err
		}
		missing = append(missing, overlaps...)
	}
	if len(missing) > 0 {
		return fmt.Errorf("%w; what is missing:\n\t%s", ErrCannotRun, strings.Join(missing, "\n\t"))
	}
	return nil
}

// overlaps returns what on this machine has addresses in the networks of a cluster that is to be made. A cluster that was made has proven
// that it can live with the machine.
func (c *Cluster) overlaps() ([]string, error) {
	taken, err := node.Overlaps(c.config.Bridge, c.config.PodCIDR, c.config.ServiceCIDR, c.config.LoadBalancerCIDR, netip.PrefixFrom(c.config.NodeIP, c.config.NodeIP.BitLen()))
	for i, other := range taken {
		taken[i] = "networks of its own: they overlap with " + other + " (a network namespace of its own has room for them)"
	}
	return taken, err
}

// takenPorts returns the ports of parts that do not run yet and that other programs use.
func (c *Cluster) takenPorts(ctx context.Context) []string {
	var taken []string
	for name, addresses := range c.listeners() {
		if _, alive, err := c.table.Find(name); err != nil || alive {
			continue
		}
		for _, address := range addresses {
			listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address.String())
			if errors.Is(err, unix.EADDRINUSE) {
				taken = append(taken, fmt.Sprintf("the port %d for %s, which another program uses", address.Port(), name))
			}
			if err == nil {
				_ = listener.Close()
			}
		}
	}
	slices.Sort(taken)
	return taken
}

// listeners are the addresses on which parts listen. The node may have no address yet: then one that is always there and that nobody uses
// stands for it, so that a program on all addresses is found.
func (c *Cluster) listeners() map[string][]netip.AddrPort {
	local := func(port uint16) netip.AddrPort {
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), port)
	}
	onNode := func(port uint16) netip.AddrPort {
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 99, 0, 1}), port)
	}
	return map[string][]netip.AddrPort{
		partEtcd:              {local(etcdPeerPort), local(etcdMetricsPort)},
		partAPIServer:         {onNode(uint16(c.config.APIPort))}, //nolint:gosec // A port fits.
		partControllerManager: {local(controllerManagerPort)},
		partScheduler:         {local(schedulerPort)},
		partKubelet:           {local(kubeletHealthPort), onNode(kubeletPort)},
		partProxy:             {local(proxyHealthPort), local(proxyMetricsPort)},
		partAddons:            {local(addonsHealthPort)},
		partDNS:               {local(dnsHealthPort), onNode(dnsPort)},
	}
}
