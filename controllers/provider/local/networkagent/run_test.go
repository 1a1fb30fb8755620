// SPDX-License-Identifier: Apache-2.0

package networkagent_test

import (
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"

	"github.com/terrarium-garden/terrarium/controllers/provider/local/networkagent"
)

func TestRunRefuses(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		args   []string
		want   string
	}{
		"NoNode":     {reason: "without its name the agent knows no share", args: []string{"--pod-network=10.0.0.0/8"}, want: "--node-name"},
		"NoNetwork":  {reason: "an empty network would masquerade everything", args: []string{"--node-name=n"}, want: `--pod-network: "" is not an IPv4 network`},
		"IPv6":       {reason: "only IPv4 is served", args: []string{"--node-name=n", "--pod-network=fd00::/64"}, want: "not an IPv4 network"},
		"Unknown":    {reason: "an unknown flag is reported", args: []string{"--pods=x"}, want: "unknown flag: --pods"},
		"Kubeconfig": {reason: "a missing kubeconfig is named", args: []string{"--node-name=n", "--pod-network=10.0.0.0/8", "--kubeconfig=/none"}, want: `"/none"`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := networkagent.Run(t.Context(), tc.args)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s\nRun(%q) = %v, want an error with %q", tc.reason, tc.args, err, tc.want)
			}
		})
	}
}

// newNetwork gives this test a network of its own with one device, eth0, that has the address 10.98.0.2/24.
func newNetwork(t *testing.T) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("a network namespace needs root")
	}
	// The thread ends with the test, and the network with the thread.
	runtime.LockOSThread()
	handle, err := netns.New()
	if err != nil {
		t.Fatalf("make a network namespace: %v", err)
	}
	t.Cleanup(func() { _ = handle.Close() })
	bridge := &netlink.Bridge{LinkAttrs: netlink.LinkAttrs{Name: "eth0"}}
	if err := netlink.LinkAdd(bridge); err != nil {
		t.Fatalf("add device: %v", err)
	}
	address := &netlink.Addr{IPNet: &net.IPNet{IP: net.IPv4(10, 98, 0, 2), Mask: net.CIDRMask(24, 32)}}
	if err := netlink.AddrAdd(bridge, address); err != nil {
		t.Fatalf("add address: %v", err)
	}
	if err := netlink.LinkSetUp(bridge); err != nil {
		t.Fatalf("set device up: %v", err)
	}
}

func routes(t *testing.T) []string {
	t.Helper()
	list, err := netlink.RouteList(nil, netlink.FAMILY_V4)
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, r := range list {
		text := r.Dst.String()
		if r.Gw != nil {
			text += " via " + r.Gw.String()
		}
		texts = append(texts, text)
	}
	return texts
}

//nolint:paralleltest // the network belongs to the thread
func TestApply(t *testing.T) {
	newNetwork(t)
	foreign := &netlink.Route{Dst: &net.IPNet{IP: net.IPv4(10, 50, 0, 0), Mask: net.CIDRMask(16, 32)}, Gw: net.IPv4(10, 98, 0, 1)}
	if err := netlink.RouteAdd(foreign); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	agent := networkagent.Options{ConfigDir: dir}
	share := netip.MustParsePrefix("10.100.0.0/24")
	const own, other = "10.98.0.0/24", "10.50.0.0/16 via 10.98.0.1"
	steps := []struct {
		reason  string
		plan    networkagent.Plan
		want    []string
		wantErr string
	}{
		{
			reason: "routes to all nodes appear, routes of others stay",
			plan:   networkagent.Plan{Share: share, Routes: []networkagent.Route{route("10.100.1.0/24", "10.98.0.3"), route("10.100.2.0/24", "10.98.0.4")}},
			want:   []string{other, own, "10.100.1.0/24 via 10.98.0.3", "10.100.2.0/24 via 10.98.0.4"},
		},
		{
			reason: "a node that got another address is reached there, the route to one that left goes",
			plan:   networkagent.Plan{Share: share, Routes: []networkagent.Route{route("10.100.1.0/24", "10.98.0.9")}},
			want:   []string{other, own, "10.100.1.0/24 via 10.98.0.9"},
		},
		{
			reason:  "an unreachable node is reported and does not stop the others",
			plan:    networkagent.Plan{Routes: []networkagent.Route{route("10.100.3.0/24", "192.0.2.1"), route("10.100.4.0/24", "10.98.0.5")}},
			want:    []string{other, own, "10.100.4.0/24 via 10.98.0.5"},
			wantErr: `route "10.100.3.0/24" via "192.0.2.1": network is unreachable`,
		},
	}
	for _, step := range steps {
		err := agent.Apply(step.plan)
		if (err == nil) != (step.wantErr == "") || (err != nil && !strings.Contains(err.Error(), step.wantErr)) {
			t.Fatalf("%s\nApply(...) = %v, want %q", step.reason, err, step.wantErr)
		}
		if diff := cmp.Diff(step.want, routes(t)); diff != "" {
			t.Errorf("%s\nroutes (-want +got):\n%s", step.reason, diff)
		}
	}
	checkConfig(t, dir)
}

// checkConfig: nothing but the finished file may lie in the folder, because the runtime reads whatever is there.
func checkConfig(t *testing.T, dir string) {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 1 || files[0].Name() != "10-local.conflist" {
		t.Fatalf("configuration folder holds %v, %v; want 10-local.conflist alone", files, err)
	}
	info, err := os.Stat(filepath.Join(dir, files[0].Name()))
	if err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("mode of the configuration is %v, %v; want 0644", info.Mode(), err)
	}
}
