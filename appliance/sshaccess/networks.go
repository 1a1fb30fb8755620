// SPDX-License-Identifier: Apache-2.0

package sshaccess

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
)

// ErrUnknownNetwork says that nobody here knows from which address a bastion will see the user.
var ErrUnknownNetwork = errors.New("this machine reaches the garden through other machines, so the address that a bastion sees is not known")

// OwnNetworks are the addresses from which this machine comes to a bastion, as networks, as far as this machine can know: those that it has
// itself. It returns ErrUnknownNetwork if it has private ones only and the garden is elsewhere, which means that something translates
// its addresses.
func OwnNetworks(ctx context.Context, server string) ([]string, error) {
	u, err := url.Parse(server)
	if err != nil {
		return nil, fmt.Errorf("read the address of the garden: %w", err)
	}
	// Nothing is sent; the system says which address it would use.
	conn, err := new(net.Dialer).DialContext(ctx, "udp", net.JoinHostPort(u.Hostname(), "9"))
	if err != nil {
		return nil, fmt.Errorf("find the way to the garden: %w", err)
	}
	defer conn.Close() //nolint:errcheck // nothing is sent
	local, remote := addressOf(conn.LocalAddr()), addressOf(conn.RemoteAddr())
	switch {
	case remote.IsLoopback():
		return interfaceNetworks()
	case local.IsPrivate() && !remote.IsPrivate():
		return nil, ErrUnknownNetwork
	}
	return []string{only(local)}, nil
}

func addressOf(a net.Addr) netip.Addr {
	known, err := netip.ParseAddrPort(a.String())
	if err != nil {
		return netip.Addr{}
	}
	return known.Addr().Unmap().WithZone("")
}

// interfaceNetworks are all addresses of this machine, for a garden that runs on it.
func interfaceNetworks() ([]string, error) {
	found, err := net.InterfaceAddrs()
	if err != nil {
		return nil, fmt.Errorf("find the addresses of this machine: %w", err)
	}
	var networks []string
	for _, a := range found {
		prefix, err := netip.ParsePrefix(a.String())
		if err == nil && prefix.Addr().IsGlobalUnicast() {
			networks = append(networks, only(prefix.Addr().Unmap()))
		}
	}
	if len(networks) == 0 {
		return nil, ErrUnknownNetwork
	}
	return networks, nil
}

// only is the network of one address.
func only(a netip.Addr) string { return netip.PrefixFrom(a, a.BitLen()).String() }
