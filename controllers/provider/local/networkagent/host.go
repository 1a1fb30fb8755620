// SPDX-License-Identifier: Apache-2.0

package networkagent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/vishvananda/netlink"
)

// routeProtocol marks the routes of the agent, so that it recognizes them and changes no others.
const routeProtocol netlink.RouteProtocol = 76

const configFile = "10-local.conflist"

// writeConfig replaces the CNI configuration atomically, because the runtime may read the folder at any time.
func writeConfig(dir string, data []byte) error {
	path := filepath.Join(dir, configFile)
	old, err := os.ReadFile(path) //nolint:gosec // the operator names the folder
	if err == nil && bytes.Equal(old, data) {
		return nil
	}
	file, err := os.CreateTemp(dir, ".local-*")
	if err != nil {
		return fmt.Errorf("write CNI configuration: %w", err)
	}
	_, err = file.Write(data)
	err = errors.Join(err, file.Chmod(0o644), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write CNI configuration %q: %w", path, err), os.Remove(file.Name()))
	}
	return nil
}

// syncRoutes adds and removes routes of the agent's protocol until they are those wanted. An unreachable gateway does not stop the others.
func syncRoutes(wanted []Route) error {
	current, err := netlink.RouteListFiltered(netlink.FAMILY_V4, &netlink.Route{Protocol: routeProtocol}, netlink.RT_FILTER_PROTOCOL)
	if err != nil {
		return fmt.Errorf("list routes: %w", err)
	}
	keep := map[netip.Prefix]bool{}
	var errs []error
	for _, route := range wanted {
		keep[route.Destination] = true
		err := netlink.RouteReplace(&netlink.Route{Dst: network(route.Destination), Gw: route.Gateway.AsSlice(), Protocol: routeProtocol})
		if err != nil {
			errs = append(errs, fmt.Errorf("route %q via %q: %w", route.Destination, route.Gateway, err))
		}
	}
	for _, route := range current {
		if destination, known := prefix(route.Dst); known && keep[destination] {
			continue
		}
		if err := netlink.RouteDel(&route); err != nil && !errors.Is(err, syscall.ESRCH) {
			errs = append(errs, fmt.Errorf("remove route %q: %w", route.Dst, err))
		}
	}
	return errors.Join(errs...)
}

func network(p netip.Prefix) *net.IPNet {
	return &net.IPNet{IP: p.Addr().AsSlice(), Mask: net.CIDRMask(p.Bits(), p.Addr().BitLen())}
}

func prefix(n *net.IPNet) (netip.Prefix, bool) {
	if n == nil {
		return netip.Prefix{}, false
	}
	addr, valid := netip.AddrFromSlice(n.IP)
	ones, _ := n.Mask.Size()
	return netip.PrefixFrom(addr.Unmap(), ones), valid
}

// nft runs the nftables program of the machine, because the image of the agent contains only the agent.
func nft(ctx context.Context, root, commands string) error {
	cmd := exec.CommandContext(ctx, "/usr/sbin/nft", "-f", "-")
	cmd.Stdin = strings.NewReader(commands)
	if root != "" && root != "/" {
		cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root}
		cmd.Dir = "/"
	}
	output, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("run nft: %w: %s", err, bytes.TrimSpace(output))
	}
	return nil
}
