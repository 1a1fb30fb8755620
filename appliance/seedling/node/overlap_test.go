// SPDX-License-Identifier: Apache-2.0

package node_test

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terrarium-garden/terrarium/appliance/seedling/node"
)

func TestOverlaps(t *testing.T) {
	t.Parallel()
	ownNetwork(t)
	ip(t, "link", "set", "lo", "up")
	for _, name := range []string{"eth9", "seedling0"} {
		ip(t, "link", "add", name, "type", "bridge")
		ip(t, "link", "set", name, "up")
	}
	pods, services, self := netip.MustParsePrefix("10.98.0.0/16"), netip.MustParsePrefix("10.97.0.0/16"), netip.MustParsePrefix("10.99.0.1/32")
	ip(t, "address", "add", "192.168.7.2/24", "dev", "eth9")
	ip(t, "route", "add", "default", "via", "192.168.7.1")
	ip(t, "route", "add", "10.0.0.0/8", "via", "192.168.7.1")
	ip(t, "address", "add", "10.98.0.1/24", "dev", "seedling0")
	if err := node.AddAddress(self.Addr()); err != nil {
		t.Fatal(err)
	}
	if err := node.AddRoute(services, self.Addr()); err != nil {
		t.Fatal(err)
	}
	expect := func(reason string, want ...string) {
		t.Helper()
		got, err := node.Overlaps("seedling0", pods, services, self)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s\nOverlaps() = error %v (-want +got):\n%s", reason, err, diff)
		}
	}
	ip(t, "route", "add", "blackhole", "10.0.0.0/9")
	expect("What a cluster added before, and wider ways out, are no obstacles.")

	ip(t, "route", "add", "10.97.3.0/24", "via", "192.168.7.1")
	expect("A narrower route would take packets for Services away.", `the route to 10.97.3.0/24 by the network device "eth9"`)
	ip(t, "route", "del", "10.97.3.0/24")

	ip(t, "address", "add", "10.98.7.1/24", "dev", "eth9")
	expect("Neighbours of the machine would not be reached any more.",
		`the address 10.98.7.1 of the network device "eth9"`, `the route to 10.98.7.0/24 by the network device "eth9"`)
	ip(t, "address", "del", "10.98.7.1/24", "dev", "eth9")

	ip(t, "address", "add", "10.99.200.1/15", "dev", "eth9")
	expect("A network of neighbours counts also if it is wider.", `the route to 10.98.0.0/15 by the network device "eth9"`)
}

func TestAddRouteKeepsForeignRoute(t *testing.T) {
	t.Parallel()
	ownNetwork(t)
	ip(t, "link", "add", "eth9", "type", "bridge")
	ip(t, "link", "set", "eth9", "up")
	ip(t, "route", "add", "10.97.0.0/16", "dev", "eth9")
	before := ip(t, "route")
	self := netip.MustParseAddr("10.99.0.1")
	if err := node.AddAddress(self); err != nil {
		t.Fatal(err)
	}
	if err := node.AddRoute(netip.MustParsePrefix("10.97.0.0/16"), self); err == nil {
		t.Error("A route of others is not replaced")
	}
	if diff := cmp.Diff(before, ip(t, "route")); diff != "" {
		t.Errorf("The routes are as before (-before +after):\n%s", diff)
	}
}
