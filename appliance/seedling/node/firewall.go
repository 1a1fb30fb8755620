// SPDX-License-Identifier: Apache-2.0

package node

import (
	"bytes"
	"context"
	"fmt"
	"net/netip"
	"os/exec"
	"slices"
	"strings"
)

// Table is the name of the firewall table of the seedling.
const Table = "seedling"

// Ranges are the networks of the cluster.
type Ranges struct {
	Pods, Services, LoadBalancers netip.Prefix
	Node                          netip.Addr
	Bridge                        string
}

// Masquerade gives traffic of pods that leaves the cluster the address of this machine. The table is replaced
// atomically.
func Masquerade(ctx context.Context, r Ranges) error {
	return nft(ctx, fmt.Sprintf(`
add table ip %[1]s
delete table ip %[1]s
table ip %[1]s {
	chain postrouting {
		type nat hook postrouting priority srcnat + 10; policy accept;
		ip saddr %[2]s oifname != { "lo", "%[3]s" } ip daddr != { %[2]s, %[4]s, %[5]s, %[6]s } masquerade
	}
}
`, Table, r.Pods, r.Bridge, r.Services, r.LoadBalancers, r.Node))
}

// ForbidIPv6 lets no packet of IPv6 pass the bridge of pods. Policies see IPv4 only, and pods have no other addresses from their network, but the
// kernel gives each of them one for the bridge. The table is replaced atomically.
func ForbidIPv6(ctx context.Context, bridge string) error {
	return nft(ctx, fmt.Sprintf(`
add table ip6 %[1]s
delete table ip6 %[1]s
table ip6 %[1]s {
	chain forward {
		type filter hook forward priority filter; policy accept;
		iifname "%[2]s" drop
		oifname "%[2]s" drop
	}
	chain input {
		type filter hook input priority filter; policy accept;
		iifname "%[2]s" drop
	}
}
`, Table, bridge))
}

// RemoveTables removes firewall tables by name, for IPv4 and IPv6, and returns those that existed.
func RemoveTables(ctx context.Context, names ...string) ([]string, error) {
	output, err := exec.CommandContext(ctx, "nft", "list", "tables").Output()
	if err != nil {
		return nil, fmt.Errorf("list firewall tables: %w", err)
	}
	var removed []string
	for line := range strings.Lines(string(output)) {
		fields := strings.Fields(line) // "table", family, name
		if len(fields) != 3 || !slices.Contains(names, fields[2]) {
			continue
		}
		if err := nft(ctx, fmt.Sprintf("delete table %s %s\n", fields[1], fields[2])); err != nil {
			return removed, err
		}
		removed = append(removed, fields[1]+" "+fields[2])
	}
	return removed, nil
}

func nft(ctx context.Context, rules string) error {
	command := exec.CommandContext(ctx, "nft", "-f", "-")
	command.Stdin = strings.NewReader(rules)
	var output bytes.Buffer
	command.Stdout, command.Stderr = &output, &output
	if err := command.Run(); err != nil {
		return fmt.Errorf("load firewall rules: %w: %s", err, strings.TrimSpace(output.String()))
	}
	return nil
}
