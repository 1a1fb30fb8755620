// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coredns/caddy"
	"github.com/google/go-cmp/cmp"

	"github.com/terrarium-garden/terrarium/appliance/seedling/cluster"
	_ "github.com/terrarium-garden/terrarium/appliance/seedling/coredns" // the plugins that the DNS server has
)

// TestCorefile has the DNS server read its configuration, with a file for each zone of records.
func TestCorefile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "resolv conf")
	c, dir := newCluster(t, func(o *cluster.Options) { o.ResolvConf, o.Config.StateDir = file, o.Config.StateDir+" with a blank" })
	dir += " with a blank"
	const kubeconfig = "apiVersion: v1\nkind: Config\ncurrent-context: it\ncontexts: [{name: it, context: {cluster: it}}]\nclusters: [{name: it, cluster: {server: 'https://10.99.0.1:7443'}}]\n"
	if err := errors.Join(
		os.WriteFile(file, []byte("nameserver 192.0.2.53\n"), 0o600), os.MkdirAll(filepath.Join(dir, "kubeconfigs"), 0o700),
		os.WriteFile(filepath.Join(dir, "kubeconfigs", "coredns"), []byte(kubeconfig), 0o600), c.WriteFiles(),
	); err != nil {
		t.Fatal(err)
	}
	corefile, err := os.ReadFile(filepath.Join(dir, "Corefile"))
	if err != nil {
		t.Fatal(err)
	}
	if err := caddy.ValidateAndExecuteDirectives(caddy.CaddyfileInput{Contents: corefile, Filepath: "Corefile", ServerTypeName: "dns"}, nil, true); err != nil {
		t.Errorf("the DNS server does not understand its configuration: %v\n%s", err, corefile)
	}
	for _, zone := range cluster.Zones() {
		if _, err := os.Stat(filepath.Join(dir, "zones", "db."+zone)); err != nil || !strings.Contains(string(corefile), `"`+filepath.Join(dir, "zones", "db."+zone)+`" `+zone+" {") {
			t.Errorf("zone %q is not served from a file that exists: %v\n%s", zone, err, corefile)
		}
	}
}

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
				want = []string{`    forward . "` + file + `"` + "\n"}
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
