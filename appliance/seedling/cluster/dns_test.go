// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/terrarium-garden/terrarium/appliance/seedling/cluster"
)

func TestForward(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason, resolvConf string
		want               bool
	}{
		"servers":  {"Outside names are asked where this machine asks.", "search a.test\nnameserver 192.0.2.53\n", true},
		"none":     {"A server that forwards to nobody would not start.", "search a.test\n", false},
		"disabled": {"What is commented out is not used.", "#nameserver 192.0.2.53\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "resolv.conf")
			if err := os.WriteFile(file, []byte(tc.resolvConf), 0o600); err != nil {
				t.Fatal(err)
			}
			c, dir := newCluster(t, func(o *cluster.Options) { o.ResolvConf = file })
			if err := c.WriteFiles(); err != nil {
				t.Fatal(err)
			}
			corefile, err := os.ReadFile(filepath.Join(dir, "Corefile"))
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Contains(string(corefile), "    forward . "+file+"\n"); got != tc.want {
				t.Errorf("%s\nforwards: %t in\n%s", tc.reason, got, corefile)
			}
		})
	}
}

func TestForwardToNowhere(t *testing.T) {
	t.Parallel()
	c, _ := newCluster(t, func(o *cluster.Options) { o.ResolvConf = "/nowhere/resolv.conf" })
	if err := c.WriteFiles(); err == nil || !strings.Contains(err.Error(), "/nowhere/resolv.conf") {
		t.Errorf("A file that was asked for and is not there is an error with its name; got %v", err)
	}
}
