// SPDX-License-Identifier: Apache-2.0

package coredns

import (
	"flag"
	"fmt"
	"net/netip"
	"os"

	"github.com/terrarium-garden/terrarium/appliance/seedling/node"
)

// RunCache serves DNS on an address that only this machine has, as the upstream program node-cache does, from the Corefile that its flag
// -basecorefile names. The address is one of the loopback device, because not every kernel has devices of the kind that the upstream
// program makes. Like that program it takes flags for a packet filter and for metrics of its own; here they have no effect. It returns
// the exit status if the servers could not start.
func RunCache(args []string) int {
	file, err := CacheFile(args, node.AddAddress)
	if err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		return 1
	}
	return Run([]string{"-conf", file})
}

// CacheFile reads the flags of node-cache, adds the address that they name, and returns the file with the configuration.
func CacheFile(args []string, add func(netip.Addr) error) (string, error) {
	flags := flag.NewFlagSet("node-cache", flag.ContinueOnError)
	local := flags.String("localip", "", "address to serve on")
	file := flags.String("basecorefile", "/etc/coredns/Corefile.base", "file with the configuration")
	for _, name := range []string{"conf", "upstreamsvc", "health-port", "metrics-listen-address"} {
		flags.String(name, "", "has no effect")
	}
	flags.Bool("setupiptables", false, "has no effect")
	if err := flags.Parse(args); err != nil {
		return "", err
	}
	address, err := netip.ParseAddr(*local)
	if err != nil {
		return "", fmt.Errorf("flag -localip: %w", err)
	}
	return *file, add(address)
}
