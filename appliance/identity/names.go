// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"crypto/x509"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
)

// Names are the names and addresses of the garden's API server, apart from those that every garden has: localhost, the loopback
// addresses and the names of the Service kubernetes.
type Names struct {
	// Host is the name of the machine; it may be empty.
	Host string
	// Addresses are the addresses of the machine.
	Addresses []netip.Addr
	// Service is the first address of the garden's service range; it may be the zero value.
	Service netip.Addr
	// External are further names and addresses of the garden for clients.
	External []string
}

// LocalNames returns the name and the addresses of this machine. Link-local IPv6 addresses are left out, because a
// client could not use them without naming a network interface.
func LocalNames() (Names, error) {
	host, err := os.Hostname()
	if err != nil {
		return Names{}, fmt.Errorf("get the host name: %w", err)
	}
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return Names{}, fmt.Errorf("get the addresses of this machine: %w", err)
	}
	n := Names{Host: host}
	for _, a := range addrs {
		ipNet, ok := a.(*net.IPNet)
		if !ok {
			continue
		}
		addr, ok := netip.AddrFromSlice(ipNet.IP)
		if !ok {
			continue
		}
		if addr = addr.Unmap(); addr.Is6() && addr.IsLinkLocalUnicast() {
			continue
		}
		n.Addresses = append(n.Addresses, addr)
	}
	return n, nil
}

// subjectNames are the sorted and unique alternative names of a certificate.
type subjectNames struct {
	dns []string
	ips []string
}

func (n Names) subjectNames() subjectNames {
	s := subjectNames{
		dns: []string{
			"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local",
		},
		ips: []string{"127.0.0.1", "::1"},
	}
	for _, a := range append(slices.Clone(n.Addresses), n.Service) {
		if a.IsValid() {
			s.ips = append(s.ips, a.Unmap().String())
		}
	}
	for _, name := range append(slices.Clone(n.External), n.Host) {
		if name == "" {
			continue
		}
		if a, err := netip.ParseAddr(name); err == nil {
			s.ips = append(s.ips, a.Unmap().String())
			continue
		}
		s.dns = append(s.dns, name)
	}
	slices.Sort(s.dns)
	slices.Sort(s.ips)
	return subjectNames{dns: slices.Compact(s.dns), ips: slices.Compact(s.ips)}
}

func (s subjectNames) netIPs() []net.IP {
	ips := make([]net.IP, 0, len(s.ips))
	for _, ip := range s.ips {
		ips = append(ips, net.ParseIP(ip))
	}
	return ips
}

// match reports whether cert has exactly these names.
func (s subjectNames) match(cert *x509.Certificate) bool {
	is := namesOf(cert)
	return slices.Equal(s.dns, is.dns) && slices.Equal(s.ips, is.ips)
}

// namesOf returns the names of a certificate.
func namesOf(cert *x509.Certificate) subjectNames {
	ips := make([]string, 0, len(cert.IPAddresses))
	for _, ip := range cert.IPAddresses {
		ips = append(ips, ip.String())
	}
	slices.Sort(ips)
	return subjectNames{dns: slices.Sorted(slices.Values(cert.DNSNames)), ips: ips}
}
