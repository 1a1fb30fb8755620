// SPDX-License-Identifier: Apache-2.0

package node_test

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/terrarium-garden/terrarium/appliance/seedling/node"
)

// ownNetwork gives the test, and the programs it runs, a network that nobody else sees. The thread is never
// given back, so it ends with the test and the network with it.
func ownNetwork(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can make a network namespace")
	}
	runtime.LockOSThread()
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		t.Skipf("no network namespace to be had here: %v", err)
	}
}

func TestAddressesAndRoutes(t *testing.T) {
	t.Parallel()
	ownNetwork(t)
	pool, services := netip.MustParsePrefix("10.99.1.0/24"), netip.MustParsePrefix("10.97.0.0/16")
	self, one := netip.MustParseAddr("10.99.0.1"), netip.MustParseAddr("10.99.1.1")
	for range 2 { // what is there already is fine
		for _, address := range []netip.Addr{self, one} {
			if err := node.AddAddress(address); err != nil {
				t.Fatal(err)
			}
		}
		if err := node.AddRoute(services, self); err != nil {
			t.Fatal(err)
		}
	}
	got, err := node.Addresses(pool)
	if diff := cmp.Diff([]netip.Addr{one}, got, cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); err != nil || diff != "" {
		t.Errorf("Addresses(%s) = error %v (-want +got):\n%s", pool, err, diff)
	}
	if out := ip(t, "route", "get", "10.97.0.10"); !strings.Contains(out, "dev lo") || !strings.Contains(out, "src 10.99.0.1") {
		t.Errorf("There is a way to Services, from the node's address, although there is no way out; got %s", out)
	}

	for range 2 { // what is gone already is fine
		for _, address := range []netip.Addr{self, one} {
			if err := node.RemoveAddress(address); err != nil {
				t.Error(err)
			}
		}
	}
	if removed, err := node.RemoveRoute(services); err != nil || removed {
		t.Errorf("The route went with its source address: RemoveRoute() = %t, %v", removed, err)
	}
	if out := ip(t, "-4", "address", "show", "scope", "global"); out != "" {
		t.Errorf("No address is left; got %s", out)
	}
	if mtu, err := node.SmallestMTU(); err != nil || mtu != 1500 {
		t.Errorf("Without a way out packets have the usual size: %d, %v", mtu, err)
	}
}

func TestRemoveLink(t *testing.T) {
	t.Parallel()
	ownNetwork(t)
	ip(t, "link", "add", "seedling0", "type", "bridge")
	for _, want := range []bool{true, false} {
		if removed, err := node.RemoveLink("seedling0"); err != nil || removed != want {
			t.Errorf("RemoveLink() = %t, %v; want %t", removed, err, want)
		}
	}
}

func TestFirewall(t *testing.T) {
	t.Parallel()
	ownNetwork(t)
	if _, err := exec.LookPath("nft"); err != nil {
		t.Skip("nft is not installed")
	}
	ranges := node.Ranges{
		Pods: netip.MustParsePrefix("10.98.0.0/16"), Services: netip.MustParsePrefix("10.97.0.0/16"),
		LoadBalancers: netip.MustParsePrefix("10.99.1.0/24"), Node: netip.MustParseAddr("10.99.0.1"), Bridge: "seedling0",
	}
	for range 2 {
		if err := node.Masquerade(t.Context(), ranges); err != nil {
			t.Fatal(err)
		}
	}
	rules := run(t, "nft", "list", "ruleset")
	if got := strings.Count(rules, "masquerade"); got != 1 {
		t.Errorf("The table is replaced and not added to; it has %d rules:\n%s", got, rules)
	}
	run(t, "nft", "add", "table", "ip6", "kube-proxy")
	run(t, "nft", "add", "table", "inet", "somebody")
	removed, err := node.RemoveTables(t.Context(), node.Table, "kube-proxy")
	if diff := cmp.Diff([]string{"ip seedling", "ip6 kube-proxy"}, removed); err != nil || diff != "" {
		t.Errorf("RemoveTables() = error %v (-want +got):\n%s", err, diff)
	}
	if diff := cmp.Diff("table inet somebody {\n}\n", run(t, "nft", "list", "ruleset")); diff != "" {
		t.Errorf("Only tables of the given names are removed (-want +got):\n%s", diff)
	}
}

func TestForwarding(t *testing.T) {
	t.Parallel()
	ownNetwork(t)
	if _, err := exec.LookPath("iptables"); err != nil {
		t.Skip("iptables is not installed")
	}
	open := run(t, "iptables", "-S", "FORWARD")
	if err := node.AllowForwarding(t.Context(), "seedling0"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(open, run(t, "iptables", "-S", "FORWARD")); diff != "" {
		t.Errorf("Where packets pass anyhow no rule is added (-want +got):\n%s", diff)
	}
	run(t, "iptables", "-P", "FORWARD", "DROP")
	for range 2 {
		if err := node.AllowForwarding(t.Context(), "seedling0"); err != nil {
			t.Fatal(err)
		}
	}
	want := "-P FORWARD DROP\n-A FORWARD -o seedling0 -j ACCEPT\n-A FORWARD -i seedling0 -j ACCEPT\n"
	if diff := cmp.Diff(want, run(t, "iptables", "-S", "FORWARD")); diff != "" {
		t.Errorf("Pods may pass where the firewall drops the rest (-want +got):\n%s", diff)
	}
	for _, want := range []int{2, 0} {
		if removed, err := node.ForbidForwarding(t.Context(), "seedling0"); err != nil || removed != want {
			t.Errorf("ForbidForwarding() = %d, %v; want %d", removed, err, want)
		}
	}
}

func ip(t *testing.T, args ...string) string {
	t.Helper()
	return run(t, "ip", args...)
}

func run(t *testing.T, program string, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), program, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v: %s", program, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// TestForbidForwardingFails ends iptables before it can answer.
func TestForbidForwardingFails(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("iptables"); err != nil {
		t.Skip("iptables is not installed")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if removed, err := node.ForbidForwarding(ctx, "seedling0"); err == nil || removed != 0 {
		t.Errorf("Rules that cannot be listed are not the same as no rules; ForbidForwarding() = %d, %v", removed, err)
	}
}

// TestForbidForwardingWithoutTable has an iptables that cannot list rules, as on machines whose tables are not for it: the versions differ
// in which these are, so it is a script.
func TestForbidForwardingWithoutTable(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	for _, code := range []int{1, 3, 4} {
		if err := os.WriteFile(filepath.Join(dir, "iptables"), fmt.Appendf(nil, "#!/bin/sh\nexit %d\n", code), 0o700); err != nil {
			t.Fatal(err)
		}
		if removed, err := node.ForbidForwarding(t.Context(), "seedling0"); err != nil || removed != 0 {
			t.Errorf("AllowForwarding has added nothing there, and the cluster has to be removable; exit code %d: ForbidForwarding() = %d, %v", code, removed, err)
		}
	}
}
