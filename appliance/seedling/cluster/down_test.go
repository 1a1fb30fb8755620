// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terrarium-garden/terrarium/appliance/seedling/cluster"
)

// existing describes a cluster of which only the files are there.
func existing(t *testing.T, change func(*cluster.Options)) (c *cluster.Cluster, stateDir, runDir string) {
	t.Helper()
	c, stateDir = newCluster(t, func(o *cluster.Options) {
		runDir = o.Config.RunDir
		if change != nil {
			change(o)
		}
	})
	for _, file := range []string{
		filepath.Join(stateDir, "seedling.json"), filepath.Join(stateDir, "machine.json"), filepath.Join(stateDir, "zones", "example"),
		filepath.Join(stateDir, "containerd", "image"), filepath.Join(runDir, "etcd", "client.sock"),
	} {
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return c, stateDir, runDir
}

// list returns the names in a folder, or none if it does not exist.
func list(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	names := []string{}
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

func TestRemove(t *testing.T) {
	t.Parallel()
	errStuck := errors.New("device is busy")
	all := []string{"containerd", "machine.json", "seedling.json", "zones"}
	for name, tc := range map[string]struct {
		reason     string
		keepImages bool
		first      func(context.CancelFunc) error
		state, run []string
		says       string
	}{
		"all": {
			reason: "If everything else is removed, the files are removed.",
			first:  func(context.CancelFunc) error { return nil },
			state:  []string{}, run: []string{},
		},
		"images": {
			reason: "Images can be kept, and the marker says whose they are.", keepImages: true,
			first: func(context.CancelFunc) error { return nil },
			state: []string{"containerd", "seedling.json"}, run: []string{},
		},
		"failure": {
			reason: "After a failure the files say what is left to remove.",
			first:  func(context.CancelFunc) error { return errStuck },
			state:  all, run: []string{"etcd"}, says: "device is busy",
		},
		"interrupted": {
			reason: "After an interruption no other step begins.",
			first:  func(cancel context.CancelFunc) error { cancel(); return nil },
			state:  all, run: []string{"etcd"}, says: `interrupted before the step "files"`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, stateDir, runDir := existing(t, nil)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			err := c.Remove(ctx, tc.keepImages, func(context.Context) (string, error) { return "", tc.first(cancel) })
			if tc.says == "" && err != nil {
				t.Errorf("%s\nRemove() = %v", tc.reason, err)
			}
			if tc.says != "" && (err == nil || !strings.Contains(err.Error(), tc.says) || !strings.Contains(err.Error(), `run "seedling down" again`)) {
				t.Errorf("%s\nRemove() = %v, want %q and what to do", tc.reason, err, tc.says)
			}
			if diff := cmp.Diff(tc.state, list(t, stateDir)); diff != "" {
				t.Errorf("%s\nState folder (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.run, list(t, runDir)); diff != "" {
				t.Errorf("%s\nRun folder (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestOwnTrace(t *testing.T) {
	t.Parallel()
	c, _ := newCluster(t, func(o *cluster.Options) { o.Config.Group = "seed" })
	container := strings.Repeat("0a", 32)
	for file, want := range map[string]bool{
		"seed-" + container + "-eth0":       true,
		"seed-ed-" + container + "-eth0":    false,
		"seed-two-" + container + "-eth0":   false,
		"seed-" + container + "0a" + "-eth": false,
	} {
		if got := c.OwnTrace("/var/lib/cni/results/" + file); got != want {
			t.Errorf("A network whose name begins like that of this cluster is another one: OwnTrace(%q) = %t", file, got)
		}
	}
}
