// SPDX-License-Identifier: Apache-2.0

package node

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// Overlaps describes the addresses and routes of this machine that overlap with the given ranges. Addresses and routes of the
// loopback device and of the given bridge are those of the cluster itself. A route that leads to more than a range by way of a
// gateway, like the default route, is no obstacle: the kernel prefers the narrower route of the cluster.
func Overlaps(bridge string, ranges ...netip.Prefix) ([]string, error) {
	links, err := netlink.LinkList()
	if err != nil {
		return nil, fmt.Errorf("list network devices: %w", err)
	}
	devices := map[int]string{}
	for _, link := range links {
		devices[link.Attrs().Index] = link.Attrs().Name
	}
	own := func(index int) bool { return devices[index] == loopback || devices[index] == bridge }
	var found []string
	addresses, err := netlink.AddrList(nil, netlink.FAMILY_V4)
	if err != nil {
		return nil, fmt.Errorf("list addresses: %w", err)
	}
	for _, address := range addresses {
		ip, _ := netip.AddrFromSlice(address.IP.To4())
		if !own(address.LinkIndex) && slices.ContainsFunc(ranges, func(one netip.Prefix) bool { return one.Contains(ip) }) {
			found = append(found, fmt.Sprintf("the address %s of the network device %q", ip, devices[address.LinkIndex]))
		}
	}
	routes, err := netlink.RouteList(nil, netlink.FAMILY_V4)
	if err != nil {
		return nil, fmt.Errorf("list routes: %w", err)
	}
	for _, route := range routes {
		if route.Type == unix.RTN_UNICAST && !own(route.LinkIndex) && slices.ContainsFunc(ranges, func(one netip.Prefix) bool { return hides(one, route) }) {
			found = append(found, fmt.Sprintf("the route to %s by the network device %q", route.Dst, devices[route.LinkIndex]))
		}
	}
	return found, nil
}

// hides reports whether a route of the cluster to a range takes packets from another route.
func hides(own netip.Prefix, other netlink.Route) bool {
	if other.Dst == nil {
		return false
	}
	ip, ok := netip.AddrFromSlice(other.Dst.IP.To4())
	bits, _ := other.Dst.Mask.Size()
	prefix := netip.PrefixFrom(ip, bits)
	if !ok || bits == 0 || !prefix.Overlaps(own) {
		return false
	}
	return bits >= own.Bits() || other.Gw == nil && len(other.MultiPath) == 0
}
