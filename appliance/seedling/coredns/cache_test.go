// SPDX-License-Identifier: Apache-2.0

package coredns_test

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

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
	if err != nil || file != "/x" {
		t.Errorf("CacheFile(...) = %q, %v", file, err)
	}
	if diff := cmp.Diff([]netip.Addr{netip.MustParseAddr("169.254.20.10")}, added, cmpopts.EquateComparable(netip.Addr{})); diff != "" {
		t.Errorf("addresses that are added (-want +got):\n%s", diff)
	}
	for _, wrong := range [][]string{nil, {"-localip=nonsense"}, {"-localip=169.254.20.10", "-other"}} {
		if _, err := coredns.CacheFile(wrong, add); err == nil {
			t.Errorf("CacheFile(%q) succeeds", wrong)
		}
	}
}
