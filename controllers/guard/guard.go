// SPDX-License-Identifier: Apache-2.0

// Package guard keeps connections that users of a garden cause away from the machine on which the garden runs and from what
// only that machine reaches. It judges the address that is dialed, after its name has been resolved, so a name that has
// another address a moment later does not help.
package guard

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"syscall"
)

// ErrForbidden says that an address must not be dialed. It does not say which one, because users are told.
var ErrForbidden = errors.New("the address is not allowed")

// Guard says which addresses must not be dialed: those of this machine, those that are not of one machine, those of services
// that hosting providers have for their machines, and those in the networks of the guard. Its zero value can be used.
type Guard struct {
	// Networks are further networks that must not be dialed.
	Networks []netip.Prefix
	// Own returns the addresses of this machine; those of its network devices if nil.
	Own func() ([]net.Addr, error)
	// Allowed may be dialed whatever address it is. Tests set it to a server of their own.
	Allowed netip.AddrPort
}

// Control is for net.Dialer: it is called for each connection with the address that is dialed.
func (g Guard) Control(_ context.Context, _, address string, _ syscall.RawConn) error {
	parsed, err := netip.ParseAddrPort(address)
	if err != nil {
		return ErrForbidden
	}
	return g.Check(parsed)
}

// Check returns ErrForbidden for an address that must not be dialed.
func (g Guard) Check(address netip.AddrPort) error {
	// An IPv4 address that is written as an IPv6 one is the same address, in whichever zone.
	plain := address.Addr().WithZone("").Unmap()
	if !plain.IsValid() {
		return ErrForbidden
	}
	if g.Allowed.IsValid() && netip.AddrPortFrom(plain, address.Port()) == g.Allowed {
		return nil
	}
	own, err := g.own()
	if err != nil {
		return fmt.Errorf("find the addresses of this machine: %w", err)
	}
	for _, target := range append(embedded(plain), plain) {
		if slices.Contains(own, target) || inside(Never(), target) || inside(g.Networks, target) {
			return ErrForbidden
		}
	}
	return nil
}

func inside(networks []netip.Prefix, address netip.Addr) bool {
	return slices.ContainsFunc(networks, func(network netip.Prefix) bool { return network.Contains(address) })
}

func (g Guard) own() ([]netip.Addr, error) {
	list := g.Own
	if list == nil {
		list = net.InterfaceAddrs
	}
	found, err := list()
	if err != nil {
		return nil, err
	}
	var own []netip.Addr
	for _, address := range found {
		network, ok := address.(*net.IPNet)
		if !ok {
			continue
		}
		if parsed, ok := netip.AddrFromSlice(network.IP); ok {
			own = append(own, parsed.Unmap())
		}
	}
	return own, nil
}

// Never are the networks that are forbidden everywhere.
func Never() []netip.Prefix {
	var networks []netip.Prefix
	for _, network := range []string{
		"0.0.0.0/8", "::/128", // this machine
		"127.0.0.0/8", "::1/128", // loopback
		"169.254.0.0/16", "fe80::/10", "fec0::/10", // the own network only, which includes most metadata services
		"224.0.0.0/4", "ff00::/8", "240.0.0.0/4", // many machines, or none
		"192.0.0.0/24", "100::/64", "64:ff9b:1::/48", "2001::/32", // of protocols, and translations that end anywhere
		"100.100.100.200/32", "168.63.129.16/32", "fd00:ec2::/32", // metadata services elsewhere
	} {
		networks = append(networks, netip.MustParsePrefix(network))
	}
	return networks
}

// embedded returns the IPv4 addresses to which an IPv6 address may be translated on its way.
func embedded(address netip.Addr) []netip.Addr {
	if !address.Is6() {
		return nil
	}
	bytes := address.As16()
	var found []netip.Addr
	take := func(from int) { found = append(found, netip.AddrFrom4([4]byte(bytes[from:from+4]))) }
	switch {
	case netip.MustParsePrefix("::/96").Contains(address), netip.MustParsePrefix("64:ff9b::/96").Contains(address),
		netip.MustParsePrefix("::ffff:0:0:0/96").Contains(address):
		take(12)
	case netip.MustParsePrefix("2002::/16").Contains(address):
		take(2)
	case [4]byte(bytes[8:12]) == [4]byte{0, 0, 0x5e, 0xfe}, [4]byte(bytes[8:12]) == [4]byte{2, 0, 0x5e, 0xfe}:
		take(12)
	}
	return found
}
