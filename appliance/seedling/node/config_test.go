// SPDX-License-Identifier: Apache-2.0

package node_test

import (
	"net/netip"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terrarium-garden/terrarium/appliance/seedling/node"
)

// golden compares with a file in testdata; UPDATE_GOLDEN=1 writes it instead.
func golden(t *testing.T, file, got string) {
	t.Helper()
	path := filepath.Join("testdata", file)
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

func TestRuntimeConfig(t *testing.T) {
	t.Parallel()
	golden(t, "containerd.toml", node.RuntimeConfig(node.RuntimePaths{
		Root: "/state/containerd", State: "/run/x/containerd", ShimState: "/run/x/runc", Socket: "/run/x/containerd/containerd.sock",
		CNIConfDir: "/state/cni/conf", CNIBinDir: "/state/cni/bin",
	}, "terrarium.garden/pause:v1", true))
}

func TestPodNetworkConfiguration(t *testing.T) {
	t.Parallel()
	content, err := node.PodNetwork{
		Name: "seedling", Bridge: "seedling0", Range: netip.MustParsePrefix("10.98.0.0/24"), MTU: 1400, DataDir: "/run/seedling/cni",
	}.Configuration()
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "network.conflist", string(content))
}
