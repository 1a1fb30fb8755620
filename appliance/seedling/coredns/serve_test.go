// SPDX-License-Identifier: Apache-2.0

package coredns_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/coredns/caddy"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/seedling/coredns"
	"github.com/terrarium-garden/terrarium/controllers/component"
	shootdns "github.com/terrarium-garden/terrarium/controllers/component/coredns"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
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

// rewriting returns the lines of a shoot's configuration that rewrite names.
func rewriting(t *testing.T) string {
	t.Helper()
	shoot := &gardencorev1beta1.Shoot{}
	shoot.Spec.SystemComponents = &gardencorev1beta1.SystemComponents{CoreDNS: &gardencorev1beta1.CoreDNS{
		Rewriting: &gardencorev1beta1.CoreDNSRewriting{CommonSuffixes: []string{".example.org", "example.com"}},
	}}
	objs, err := shootdns.Component().Render(facts.Shoot{Shoot: shoot}, &component.Inputs{})
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(objs, func(obj client.Object) bool {
		config, is := obj.(*corev1.ConfigMap)
		return is && len(config.Data) > 0
	})
	var lines []string
	for line := range strings.Lines(objs[at].(*corev1.ConfigMap).Data["Corefile"]) {
		if strings.Contains(line, "rewrite ") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}

// TestStart serves names of its own, also as a pod's search path asks for them, and names of a second server.
func TestStart(t *testing.T) {
	t.Parallel()
	port, outside := freePort(t), freePort(t)
	file := filepath.Join(t.TempDir(), "Corefile")
	corefile := fmt.Sprintf(`
.:%d {
    bind 127.0.0.1
%[3]s
    hosts {
        192.0.2.1 a.ns.svc.cluster.local
        192.0.2.2 b.example.org example.org
        192.0.2.3 example.com
        fallthrough
    }
    forward . 127.0.0.1:%[2]d
    cache
}
.:%[2]d {
    bind 127.0.0.1
    template IN A outer.test {
        answer "{{ .Name }} 60 IN A 192.0.2.4"
    }
}
`, port, outside, rewriting(t))
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
	for name, want := range map[string]string{
		"outer.test.":             "[192.0.2.4]",
		"a.ns.svc.cluster.local.": "[192.0.2.1]",
		"a.ns.svc.cluster.local.default.svc.cluster.local.":   "[192.0.2.1]",
		"b.example.org.default.svc.cluster.local.":            "[192.0.2.2]",
		"example.org.default.svc.cluster.local.":              "[]", // only names below that suffix are whole
		"example.com.default.svc.cluster.local.":              "[192.0.2.3]",
		"example.com.a.default.svc.cluster.local.":            "[]",
		"a.ns.svc.cluster.local.default.svc.cluster.local.x.": "[]",
	} {
		got, err := resolver.LookupNetIP(t.Context(), "ip4", name)
		if fmt.Sprint(got) != want {
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
