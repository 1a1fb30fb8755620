// SPDX-License-Identifier: Apache-2.0

package node

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"

	"github.com/vishvananda/netlink"
)

// loopback is the device of the addresses of the cluster. It always exists, and its addresses can be reached from this
// machine and its pods without another device.
const loopback = "lo"

// AddAddress adds an address to this machine. It succeeds if the machine has the address already.
func AddAddress(address netip.Addr) error {
	link, err := netlink.LinkByName(loopback)
	if err != nil {
		return fmt.Errorf("find network device %q: %w", loopback, err)
	}
	if err := netlink.LinkSetUp(link); err != nil {
		return fmt.Errorf("enable network device %q: %w", loopback, err)
	}
	if err := netlink.AddrReplace(link, &netlink.Addr{IPNet: hostNet(address)}); err != nil {
		return fmt.Errorf("add address %q: %w", address, err)
	}
	return nil
}

// RemoveAddress removes an address from this machine. It succeeds if the machine does not have the address.
func RemoveAddress(address netip.Addr) error {
	link, err := netlink.LinkByName(loopback)
	if err != nil {
		return fmt.Errorf("find network device %q: %w", loopback, err)
	}
	err = netlink.AddrDel(link, &netlink.Addr{IPNet: hostNet(address)})
	if err != nil && !errors.Is(err, syscall.EADDRNOTAVAIL) {
		return fmt.Errorf("remove address %q: %w", address, err)
	}
	return nil
}

// Addresses returns the addresses of a range that this machine has on its loopback device.
func Addresses(within netip.Prefix) ([]netip.Addr, error) {
	link, err := netlink.LinkByName(loopback)
	if err != nil {
		return nil, fmt.Errorf("find network device %q: %w", loopback, err)
	}
	all, err := netlink.AddrList(link, netlink.FAMILY_V4)
	if err != nil {
		return nil, fmt.Errorf("list addresses of network device %q: %w", loopback, err)
	}
	var found []netip.Addr
	for _, one := range all {
		address, ok := netip.AddrFromSlice(one.IP.To4())
		if ok && within.Contains(address) {
			found = append(found, address)
		}
	}
	return found, nil
}

// AddRoute adds a route to a range that exists only in the address translation of the firewall. It succeeds if the route
// exists already, and fails if this machine has another route to the range. Without a route the kernel rejects packets before
// the firewall sees them. The source address is the given one.
func AddRoute(to netip.Prefix, source netip.Addr) error {
	link, err := netlink.LinkByName(loopback)
	if err != nil {
		return fmt.Errorf("find network device %q: %w", loopback, err)
	}
	route := &netlink.Route{LinkIndex: link.Attrs().Index, Dst: network(to), Src: source.AsSlice(), Scope: netlink.SCOPE_LINK}
	err = netlink.RouteAdd(route)
	if errors.Is(err, syscall.EEXIST) {
		existing, err := netlink.RouteListFiltered(netlink.FAMILY_V4, route, netlink.RT_FILTER_DST)
		if err == nil && len(existing) > 0 && existing[0].LinkIndex == route.LinkIndex {
			return nil
		}
		return errors.Join(fmt.Errorf("this machine has another route to %q: %w", to, syscall.EEXIST), err)
	}
	if err != nil {
		return fmt.Errorf("add route to %q: %w", to, err)
	}
	return nil
}

// RemoveRoute undoes AddRoute and reports whether the route existed.
func RemoveRoute(to netip.Prefix) (bool, error) {
	link, err := netlink.LinkByName(loopback)
	if err != nil {
		return false, fmt.Errorf("find network device %q: %w", loopback, err)
	}
	err = netlink.RouteDel(&netlink.Route{LinkIndex: link.Attrs().Index, Dst: network(to), Scope: netlink.SCOPE_LINK})
	if errors.Is(err, syscall.ESRCH) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("remove route to %q: %w", to, err)
	}
	return true, nil
}

// RemoveLink removes a network device and reports whether it existed.
func RemoveLink(name string) (bool, error) {
	link, err := netlink.LinkByName(name)
	if missing := (netlink.LinkNotFoundError{}); errors.As(err, &missing) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("find network device %q: %w", name, err)
	}
	if err := netlink.LinkDel(link); err != nil {
		return false, fmt.Errorf("remove network device %q: %w", name, err)
	}
	return true, nil
}

// SmallestMTU returns the smallest MTU of the default routes of the machine, or 1500 if there are none.
func SmallestMTU() (int, error) {
	routes, err := netlink.RouteList(nil, netlink.FAMILY_V4)
	if err != nil {
		return 0, fmt.Errorf("list routes: %w", err)
	}
	smallest := 1500
	for _, route := range routes {
		if route.Dst != nil && route.Dst.IP.IsUnspecified() || route.Dst == nil {
			link, err := netlink.LinkByIndex(route.LinkIndex)
			if err != nil {
				continue // a route over several devices has no device of its own
			}
			smallest = min(smallest, link.Attrs().MTU)
		}
	}
	return smallest, nil
}

func hostNet(address netip.Addr) *net.IPNet {
	return &net.IPNet{IP: address.AsSlice(), Mask: net.CIDRMask(address.BitLen(), address.BitLen())}
}

func network(prefix netip.Prefix) *net.IPNet {
	return &net.IPNet{IP: prefix.Addr().AsSlice(), Mask: net.CIDRMask(prefix.Bits(), prefix.Addr().BitLen())}
}
