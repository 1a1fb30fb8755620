// SPDX-License-Identifier: Apache-2.0

package coredns_test

import (
	"net/netip"
	"testing"

	"github.com/terrarium-garden/terrarium/appliance/seedling/coredns"
)

// TestCacheFile uses the flags that the component gives.
func TestCacheFile(t *testing.T) {
	t.Parallel()
	var added []netip.Addr
	add := func(a netip.Addr) error { added = append(added, a); return nil }
	file, err := coredns.CacheFile([]string{
		"-localip=169.254.20.10", "-basecorefile=/x", "-conf=/run/node-cache/Corefile", "-setupiptables=false", "-upstreamsvc=kube-dns",
		"-health-port=8080", "-metrics-listen-address=:9353",
	}, add)
	if err != nil || file != "/x" || len(added) != 1 || added[0].String() != "169.254.20.10" {
		t.Errorf("CacheFile(...) = %q, %v, addresses %v", file, err, added)
	}
	for _, wrong := range [][]string{nil, {"-localip=nonsense"}, {"-localip=169.254.20.10", "-other"}} {
		if _, err := coredns.CacheFile(wrong, add); err == nil {
			t.Errorf("CacheFile(%q) succeeds", wrong)
		}
	}
}
