// SPDX-License-Identifier: Apache-2.0

package guard_test

import (
	"errors"
	"net"
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/terrarium-garden/terrarium/controllers/guard"
)

func addressed(cidrs ...string) func() ([]net.Addr, error) {
	return func() ([]net.Addr, error) {
		var found []net.Addr
		for _, cidr := range cidrs {
			ip, network, err := net.ParseCIDR(cidr)
			if err != nil {
				return nil, err
			}
			found = append(found, &net.IPNet{IP: ip, Mask: network.Mask})
		}
		return found, nil
	}
}

func TestControl(t *testing.T) {
	t.Parallel()
	g := guard.Guard{
		Own:      addressed("10.0.0.5/24", "2001:db8::5/64"),
		Networks: []netip.Prefix{netip.MustParsePrefix("10.97.0.0/16")},
		Allowed:  netip.MustParseAddrPort("127.0.0.1:4433"),
	}
	for address, tc := range map[string]struct {
		reason  string
		allowed bool
	}{
		"203.0.113.7:443":             {reason: "an address elsewhere", allowed: true},
		"10.0.0.6:443":                {reason: "a neighbour in a private network", allowed: true},
		"192.168.3.4:6443":            {reason: "a private network", allowed: true},
		"[2001:db8::6]:443":           {reason: "an IPv6 address elsewhere", allowed: true},
		"[::ffff:203.0.113.7]:443":    {reason: "an IPv4 address in another form", allowed: true},
		"127.0.0.1:4433":              {reason: "what a test allows", allowed: true},
		"[::ffff:127.0.0.1]:4433":     {reason: "in any form", allowed: true},
		"127.0.0.1:4434":              {reason: "loopback"},
		"127.255.0.3:443":             {reason: "all of it"},
		"[::1]:443":                   {reason: "that of IPv6"},
		"[::ffff:127.0.0.1]:443":      {reason: "an IPv4 one written as an IPv6 one"},
		"[::127.0.0.1]:443":           {reason: "in the old way"},
		"[64:ff9b::127.0.0.1]:443":    {reason: "translated by a gateway"},
		"[::ffff:0:127.0.0.1]:443":    {reason: "by a stateless one"},
		"[::ffff:0:203.0.113.7]:443":  {reason: "which may lead elsewhere, too", allowed: true},
		"[64:ff9b:1::1]:443":          {reason: "by a gateway of the network"},
		"[2002:7f00:1::]:443":         {reason: "by a tunnel"},
		"[2002:a00:5::1]:443":         {reason: "also to a device of this machine"},
		"[fd00::5efe:127.0.0.1]:443":  {reason: "by another tunnel"},
		"[2001:0:7f00:1::1]:443":      {reason: "by yet another one"},
		"0.0.0.0:443":                 {reason: "no address is this machine"},
		"0.1.2.3:443":                 {reason: "nor are others of the kind"},
		"[::]:443":                    {reason: "that of IPv6"},
		"[::ffff:0.0.0.0]:443":        {reason: "or both"},
		"169.254.169.254:80":          {reason: "the metadata of this machine"},
		"[::ffff:169.254.169.254]:80": {reason: "in another form"},
		"100.100.100.200:80":          {reason: "elsewhere"},
		"168.63.129.16:80":            {reason: "elsewhere still"},
		"[fd00:ec2::254]:80":          {reason: "and in IPv6"},
		"[fe80::1%eth0]:443":          {reason: "link-local"},
		"[fe80::1]:443":               {reason: "without a zone"},
		"[fec0::1]:443":               {reason: "site-local"},
		"224.0.0.1:443":               {reason: "multicast"},
		"[ff02::1]:443":               {reason: "that of IPv6"},
		"255.255.255.255:443":         {reason: "broadcast"},
		"240.1.2.3:443":               {reason: "reserved"},
		"10.0.0.5:443":                {reason: "a device of this machine"},
		"[::ffff:10.0.0.5]:443":       {reason: "in another form"},
		"[2001:db8::5]:443":           {reason: "its IPv6 address"},
		"[2001:db8::5%eth0]:443":      {reason: "in a zone"},
		"10.97.0.1:443":               {reason: "a network of the garden"},
		"[::ffff:10.97.200.1]:443":    {reason: "in another form"},
		"localhost:443":               {reason: "a name, which nobody should dial"},
		"2130706433:443":              {reason: "a number is no address"},
		"127.1:443":                   {reason: "nor is half of one"},
		"0x7f.0.0.1:443":              {reason: "nor one in another base"},
		"127.0.0.1":                   {reason: "an address has a port"},
	} {
		want := guard.ErrForbidden
		if tc.allowed {
			want = nil
		}
		if diff := cmp.Diff(want, g.Control(t.Context(), "tcp", address, nil), cmpopts.EquateErrors()); diff != "" {
			t.Errorf("%s: error of Control(%q) (-want +got):\n%s", tc.reason, address, diff)
		}
	}
}

// TestOwn asks this machine for its addresses.
func TestOwn(t *testing.T) {
	t.Parallel()
	own, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, address := range own {
		network, ok := address.(*net.IPNet)
		if !ok {
			continue
		}
		ip, _ := netip.AddrFromSlice(network.IP)
		if diff := cmp.Diff(guard.ErrForbidden, (guard.Guard{}).Check(netip.AddrPortFrom(ip, 443)), cmpopts.EquateErrors()); diff != "" {
			t.Errorf("an address of this machine: error of Check(%s) (-want +got):\n%s", ip, diff)
		}
	}
	broken := guard.Guard{Own: func() ([]net.Addr, error) { return nil, errors.New("boom") }}
	if err := broken.Check(netip.MustParseAddrPort("203.0.113.7:443")); err == nil {
		t.Error("who does not know the own addresses dials none")
	}
}
