// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terrarium-garden/terrarium/appliance/seedling/cluster"
)

func TestNewConfig(t *testing.T) {
	t.Parallel()
	config := cluster.NewConfig("/var/lib/seedling")
	if got, want := []string{config.NodeName, config.Group, config.RunDir}, []string{"seedling", "seedling", "/run/seedling"}; !cmp.Equal(got, want) {
		t.Errorf("The names of the default cluster are %q, want %q", got, want)
	}
	if one, two := cluster.NewConfig("/one/docker"), cluster.NewConfig("/two/docker"); one.Group == two.Group || one.RunDir == two.RunDir || one.RunDir == "/run/docker" {
		t.Errorf("Clusters share no names with each other or with other programs; got %+v and %+v", one, two)
	}
	if got, want := config.Server(), "https://10.99.0.1:7443"; got != want {
		t.Errorf("Server() = %q, want %q", got, want)
	}
	ranges := []netip.Prefix{config.PodCIDR, config.ServiceCIDR, config.LoadBalancerCIDR, netip.PrefixFrom(config.NodeIP, 32)}
	for i, a := range ranges {
		for _, b := range ranges[i+1:] {
			if a.Overlaps(b) {
				t.Errorf("The networks of a cluster are apart; %s and %s overlap", a, b)
			}
		}
	}
	if !config.PodCIDR.Overlaps(config.NodeCIDR) || config.NodeCIDR.Bits() <= config.PodCIDR.Bits() {
		t.Errorf("The node gives addresses out of the range of all pods; %s and %s", config.NodeCIDR, config.PodCIDR)
	}
}

func TestLoadConfig(t *testing.T) {
	t.Parallel()
	dir := realDir(t)
	if _, err := cluster.LoadConfig(dir); !errors.Is(err, cluster.ErrNoSeedling) || !strings.Contains(err.Error(), dir) {
		t.Errorf("A folder without a cluster has its own error, which names it; got %v", err)
	}
	file := filepath.Join(dir, "seedling.json")
	content := `{"stateDir":"` + dir + `","runDir":"/r","nodeName":"n","nodeAddress":"192.0.2.1","apiPort":1,"pods":"10.0.0.0/16","nodePods":"10.0.1.0/24",` +
		`"services":"10.1.0.0/16","loadBalancers":"10.2.0.0/24","bridge":"b"}`
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	want := cluster.Config{
		StateDir: dir, RunDir: "/r", NodeName: "n", Group: "n", NodeIP: netip.MustParseAddr("192.0.2.1"), APIPort: 1, Bridge: "b",
		PodCIDR: netip.MustParsePrefix("10.0.0.0/16"), NodeCIDR: netip.MustParsePrefix("10.0.1.0/24"),
		ServiceCIDR: netip.MustParsePrefix("10.1.0.0/16"), LoadBalancerCIDR: netip.MustParsePrefix("10.2.0.0/24"),
	}
	got, err := cluster.LoadConfig(dir)
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b netip.Addr) bool { return a == b }), cmp.Comparer(func(a, b netip.Prefix) bool { return a == b })); err != nil || diff != "" {
		t.Errorf("Later commands act on what was brought up: error %v (-want +got):\n%s", err, diff)
	}
	if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := cluster.LoadConfig(dir); err == nil || errors.Is(err, cluster.ErrNoSeedling) {
		t.Errorf("A broken description is not the same as none: it would hide a cluster that runs; got %v", err)
	}
}

func TestLoadConfigRefusesCopies(t *testing.T) {
	t.Parallel()
	dir, other := realDir(t), realDir(t)
	if err := os.WriteFile(filepath.Join(dir, "seedling.json"), []byte(`{"stateDir":"`+other+`"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := cluster.LoadConfig(dir); err == nil || !strings.Contains(err.Error(), other) {
		t.Errorf("The processes of a copied cluster use the other folder, which is named; got %v", err)
	}
}
