// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/terrarium-garden/terrarium/appliance/seedling/cluster"
	"github.com/terrarium-garden/terrarium/appliance/seedling/node"
)

// newConfig describes a cluster that shares nothing with others of this machine.
func newConfig(t *testing.T) cluster.Config {
	t.Helper()
	config := cluster.NewConfig(filepath.Join(realDir(t), "state"))
	config.RunDir = filepath.Join(realDir(t), "run")
	return config
}

func TestSaveRefusesWhatOthersUse(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason  string
		prepare func(t *testing.T, config *cluster.Config)
		want    string
	}{
		"run folder": {
			reason: "The folder of another program is not removed together with the cluster.",
			prepare: func(t *testing.T, config *cluster.Config) {
				t.Helper()
				if err := os.MkdirAll(filepath.Join(config.RunDir, "somebody's"), 0o700); err != nil {
					t.Fatal(err)
				}
			},
			want: "run\" exists and does not belong to a cluster in",
		},
		"control group": {
			reason: "The processes of another program are not killed together with the cluster.",
			prepare: func(t *testing.T, config *cluster.Config) {
				t.Helper()
				groups, err := node.FindCgroups()
				if err != nil {
					t.Fatal(err)
				}
				config.Group = "cluster-test-" + strconv.Itoa(os.Getpid())
				if err := groups.Make(config.Group); err != nil {
					t.Skipf("control groups cannot be made here: %v", err)
				}
				t.Cleanup(func() {
					for _, root := range groups.Roots {
						if err := os.Remove(filepath.Join(root, config.Group)); err != nil {
							t.Error(err)
						}
					}
				})
			},
			want: "exists and does not belong to a cluster in",
		},
		"name": {
			reason:  "A name that no node can have is reported before anything is made.",
			prepare: func(_ *testing.T, config *cluster.Config) { config.NodeName = "My_Seed" },
			want:    `"My_Seed" is not a name of a node`,
		},
		"quote": {
			reason:  "A path that would end a word in the Corefile is reported before anything is made.",
			prepare: func(_ *testing.T, config *cluster.Config) { config.StateDir += `"quoted` },
			want:    "which some parts cannot have in paths",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := newConfig(t)
			tc.prepare(t, &config)
			if err := config.Save(); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s\nSave() = %v, want %q", tc.reason, err, tc.want)
			}
			if _, err := os.Stat(config.StateDir); err == nil {
				t.Errorf("%s\nThe state folder was made", tc.reason)
			}
		})
	}
}

func TestSaveAfterPowerFailure(t *testing.T) {
	t.Parallel()
	config := newConfig(t)
	if err := os.MkdirAll(config.StateDir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(config.StateDir, "seedling.json.new"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := config.Save(); err != nil {
		t.Errorf("Half a marker is not somebody's file; Save() = %v", err)
	}
}

func TestSaveAgain(t *testing.T) {
	t.Parallel()
	config := newConfig(t)
	for range 2 {
		if err := config.Save(); err != nil {
			t.Fatalf("The run folder of a cluster whose state folder was removed is used again; Save() = %v", err)
		}
		if err := config.MakeRunDir(); err != nil {
			t.Fatal(err)
		}
		if err := os.RemoveAll(config.StateDir); err != nil {
			t.Fatal(err)
		}
	}
}
