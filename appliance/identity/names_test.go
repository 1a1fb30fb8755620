// SPDX-License-Identifier: Apache-2.0

package identity_test

import (
	"net/netip"
	"os"
	"slices"
	"testing"

	"github.com/terrarium-garden/terrarium/appliance/identity"
)

func TestLocalNames(t *testing.T) {
	t.Parallel()

	n, err := identity.LocalNames()
	if err != nil {
		t.Fatalf("LocalNames() = %v", err)
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	if n.Host != host {
		t.Errorf("LocalNames().Host = %q, want %q", n.Host, host)
	}
	if !slices.Contains(n.Addresses, netip.MustParseAddr("127.0.0.1")) {
		t.Errorf("Every machine has a loopback address.\nLocalNames().Addresses = %v", n.Addresses)
	}
	for _, a := range n.Addresses {
		if a.Is6() && a.IsLinkLocalUnicast() {
			t.Errorf("A link-local address needs the name of an interface.\nLocalNames().Addresses = %v", n.Addresses)
		}
	}
}
