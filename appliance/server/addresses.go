// SPDX-License-Identifier: Apache-2.0

package server

import (
	"fmt"
	"net"
	"net/netip"
	"strconv"

	"github.com/terrarium-garden/terrarium/appliance/identity"
)

// addresses are the addresses of the garden.
type addresses struct {
	// host is the host for clients on other machines.
	host string
	// server and local are the URLs for clients on other machines and on this one.
	server, local string
	// names are the names in the serving certificate.
	names identity.Names
}

// resolve returns the addresses of the garden. Without external addresses it uses those of the machine.
func resolve(listening net.Addr, external []string) (addresses, error) {
	tcp, ok := listening.(*net.TCPAddr)
	if !ok {
		return addresses{}, fmt.Errorf("listen on %s %q: not a TCP address", listening.Network(), listening)
	}
	names, err := identity.LocalNames()
	if err != nil {
		return addresses{}, err
	}
	names.External = external
	bound := tcp.AddrPort().Addr().Unmap()
	a := addresses{names: names, host: reachable(bound, names, external)}

	local := bound
	if bound.IsUnspecified() {
		local = netip.MustParseAddr("127.0.0.1")
	}
	a.server, a.local = url(a.host, tcp.Port), url(local.String(), tcp.Port)

	return a, nil
}

// reachable picks the address that other machines are most likely to reach.
func reachable(bound netip.Addr, names identity.Names, external []string) string {
	if len(external) > 0 {
		return external[0]
	}
	if !bound.IsUnspecified() {
		return bound.String()
	}
	for _, a := range names.Addresses {
		if a.IsGlobalUnicast() && a.Is4() {
			return a.String()
		}
	}
	for _, a := range names.Addresses {
		if a.IsGlobalUnicast() {
			return a.String()
		}
	}

	return "127.0.0.1"
}

func url(host string, port int) string {
	return "https://" + net.JoinHostPort(host, strconv.Itoa(port))
}
