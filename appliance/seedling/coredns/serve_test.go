// SPDX-License-Identifier: Apache-2.0

package coredns_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/coredns/caddy"
	"github.com/google/go-cmp/cmp"

	"github.com/terrarium-garden/terrarium/appliance/seedling/coredns"
)

// freePort finds a port that nobody has, for UDP and TCP.
func freePort(t *testing.T) int {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close() //nolint:errcheck // Only its port was wanted.
	return listener.Addr().(*net.TCPAddr).Port
}

// TestStart serves names of its own, a rewritten one and, from a second server, forwarded ones.
func TestStart(t *testing.T) {
	t.Parallel()
	port, outside := freePort(t), freePort(t)
	file := filepath.Join(t.TempDir(), "Corefile")
	corefile := fmt.Sprintf(`
.:%d {
    bind 127.0.0.1
    rewrite stop name exact alias.test inner.test
    hosts {
        192.0.2.1 inner.test
        fallthrough
    }
    forward . 127.0.0.1:%[2]d
    cache
}
.:%[2]d {
    bind 127.0.0.1
    template IN A outer.test {
        answer "{{ .Name }} 60 IN A 192.0.2.2"
    }
}
`, port, outside)
	if err := os.WriteFile(file, []byte(corefile), 0o600); err != nil {
		t.Fatal(err)
	}
	server, err := coredns.Start(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Stop() })
	resolver := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, fmt.Sprintf("127.0.0.1:%d", port))
	}}
	for name, want := range map[string]string{"inner.test.": "192.0.2.1", "alias.test.": "192.0.2.1", "outer.test.": "192.0.2.2"} {
		got, err := resolver.LookupNetIP(t.Context(), "ip4", name)
		if err != nil || len(got) != 1 || got[0].String() != want {
			t.Errorf("%s resolves to %s; got %v, %v", name, want, got, err)
		}
	}
}

// TestPlugins: a Corefile that names a plugin which is not there does not start.
func TestPlugins(t *testing.T) {
	t.Parallel()
	registered := caddy.ListPlugins()["others"]
	var missing []string
	for _, name := range []string{
		"bind", "cache", "errors", "forward", "header", "health", "hosts", "kubernetes", "loadbalance", "log", "loop", "prometheus", "ready", "reload",
		"rewrite", "template",
	} {
		if !slices.Contains(registered, "dns."+name) {
			missing = append(missing, name)
		}
	}
	if diff := cmp.Diff([]string(nil), missing); diff != "" {
		t.Errorf("Clusters name these plugins (-want +missing):\n%s\nregistered are %q", diff, registered)
	}
}
