// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terrarium-garden/terrarium/appliance/seedling/cluster"
)

func TestForward(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason, resolvConf string
		forwards           bool
	}{
		"servers":  {"Names outside of the cluster are resolved by the name servers of this machine.", "search a.test\nnameserver 192.0.2.53\n", true},
		"none":     {"A DNS server without a name server to forward to would not start.", "search a.test\n", false},
		"disabled": {"Comments are ignored.", "#nameserver 192.0.2.53\n", false},
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
			var got, want []string
			for line := range strings.Lines(string(corefile)) {
				if strings.Contains(line, "forward") {
					got = append(got, line)
				}
			}
			if tc.forwards {
				want = []string{"    forward . " + file + "\n"}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s\nforwarding in the Corefile (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestForwardToNowhere(t *testing.T) {
	t.Parallel()
	c, _ := newCluster(t, func(o *cluster.Options) { o.ResolvConf = "/nowhere/resolv.conf" })
	if err := c.WriteFiles(); err == nil || !strings.Contains(err.Error(), "/nowhere/resolv.conf") {
		t.Errorf("A file that is configured and does not exist is an error with its name; got %v", err)
	}
}
