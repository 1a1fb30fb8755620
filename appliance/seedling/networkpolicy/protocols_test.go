// SPDX-License-Identifier: Apache-2.0

package networkpolicy_test

import (
	"context"
	"errors"
	"net"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	seedlingnode "github.com/terrarium-garden/terrarium/appliance/seedling/node"
)

// filter6 is the setting by which the packet filter sees bridged packets of IPv6.
const filter6 = "/proc/sys/net/bridge/bridge-nf-call-ip6tables"

// soon is how long a connection may take while the kernel still gets to know the links, tooLong is how long it takes then if it is possible at all.
const soon, tooLong = 10 * time.Second, 500 * time.Millisecond

// reaches reports whether a place has connections to an address of IPv6 that only the device with that name leads to.
func (p *place) reaches(t *testing.T, address string, within time.Duration) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	var c net.Conn
	var err error
	p.do(func() { c, err = new(net.Dialer).DialContext(ctx, "tcp6", net.JoinHostPort(address+"%eth0", "8080")) })
	return err == nil && c.Close() == nil
}

// listen6 accepts connections of IPv6.
func (p *place) listen6(t *testing.T) {
	t.Helper()
	var listener net.Listener
	var err error
	p.do(func() { listener, err = (&net.ListenConfig{}).Listen(t.Context(), "tcp6", "[::]:8080") })
	if err != nil {
		t.Skipf("this machine has no IPv6: %v", err)
	}
	t.Cleanup(func() { _ = listener.Close() })
}

// TestForbidIPv6 connects pods by the addresses of IPv6 that the kernel gives them. No policy sees that, so it is possible for nobody.
func TestForbidIPv6(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	web, client := m.connectPod(t, "web", address("web")), m.connectPod(t, "client", address("client"))
	for place, at := range map[*place][]string{m.place: {"fe80::1", bridge}, web: {"fe80::2", "eth0"}, client: {"fe80::3", "eth0"}} {
		place.listen6(t)
		place.ip(t, "address", "add", at[0]+"/64", "dev", at[1], "nodad")
	}
	web.listen(t, 8080)
	look := func(within time.Duration) map[string]bool {
		connected, _ := client.connect(t.Context(), address("web"), 8080)
		return map[string]bool{"IPv4": connected, "pod": client.reaches(t, "fe80::2", within), "node": client.reaches(t, "fe80::1", within)}
	}
	if diff := cmp.Diff(map[string]bool{"IPv4": true, "pod": true, "node": true}, look(soon)); diff != "" {
		t.Fatalf("Without a table (-want +got):\n%s", diff)
	}
	for range 2 {
		var err error
		m.do(func() {
			err = errors.Join(os.WriteFile(filter6, []byte("1"), 0), seedlingnode.ForbidIPv6(t.Context(), bridge))
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(map[string]bool{"IPv4": true, "pod": false, "node": false}, look(tooLong)); diff != "" {
		t.Errorf("With it (-want +got):\n%s", diff)
	}
}
