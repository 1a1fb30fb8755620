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
	"time"

	"github.com/coredns/caddy"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/seedling/coredns"
	"github.com/terrarium-garden/terrarium/appliance/seedling/dnszones"
	"github.com/terrarium-garden/terrarium/controllers/component"
	shootdns "github.com/terrarium-garden/terrarium/controllers/component/coredns"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/nameserver"
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

// TestStart serves names of its own, also as a pod's search path asks for them, names of a second server, and records of extensions.
func TestStart(t *testing.T) {
	t.Parallel()
	port, outside := freePort(t), freePort(t)
	file := filepath.Join(t.TempDir(), "Corefile")
	zones := dnszones.Files{Dir: t.TempDir(), Zones: []string{"example"}}
	if err := zones.Begin(); err != nil {
		t.Fatal(err)
	}
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
    file %[4]s example {
        reload 20ms
    }
    forward . 127.0.0.1:%[2]d
    cache {
        disable success example
        disable denial example
    }
}
.:%[2]d {
    bind 127.0.0.1
    template IN A outer.test {
        answer "{{ .Name }} 60 IN A 192.0.2.4"
    }
}
`, port, outside, rewriting(t), filepath.Join(zones.Dir, dnszones.FileName("example")))
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
	recordsOfExtensions(t, resolver, zones)
}

// recordsOfExtensions come, change and go while the server runs.
func recordsOfExtensions(t *testing.T, resolver *net.Resolver, zones dnszones.Files) {
	t.Helper()
	const odd = "a \"b\"\n\\ $INCLUDE x"
	for _, step := range []struct {
		reason  string
		records []nameserver.Record
		want    map[string]string
	}{
		{reason: "there is nothing at first", want: map[string]string{"a.example.": "[]", "x.in.example.": "[]"}},
		{
			reason: "records of each type are served",
			records: []nameserver.Record{
				{Name: "*.in.example", Type: "A", Values: []string{"192.0.2.6"}},
				{Name: "a.example", Type: "A", Values: []string{"192.0.2.5"}},
				{Name: "six.example", Type: "AAAA", Values: []string{"2001:db8::1"}},
				{Name: "t.example", Type: "TXT", Values: []string{odd}},
				{Name: "w.example", Type: "CNAME", Values: []string{"a.example"}},
				{Name: "v.example", Type: "CNAME", Values: []string{"outer.test"}},
			},
			want: map[string]string{
				"A.Example.": "[192.0.2.5]", "x.in.example.": "[192.0.2.6]", "y.x.in.example.": "[192.0.2.6]", "in.example.": "[]", "six.example.": "[2001:db8::1]",
				"w.example.": "[192.0.2.5]", "v.example.": "[192.0.2.4]", "b.example.": "[]",
			},
		},
		{
			reason:  "a record of another type takes the place of the former, and the others are gone",
			records: []nameserver.Record{{Name: "a.example", Type: "CNAME", Values: []string{"b.example"}}, {Name: "b.example", Type: "A", Values: []string{"192.0.2.7"}}},
			want:    map[string]string{"a.example.": "[192.0.2.7]", "x.in.example.": "[]", "w.example.": "[]"},
		},
		{reason: "everything goes", want: map[string]string{"a.example.": "[]", "b.example.": "[]"}},
	} {
		if err := zones.Write(step.records); err != nil {
			t.Fatal(err)
		}
		for name, want := range step.want {
			if got, err := await(t, resolver, name, want); got != want {
				t.Errorf("%s\n%s resolves to %s; got %s, %v", step.reason, name, want, got, err)
			}
		}
		if len(step.records) > 2 {
			if got, err := resolver.LookupTXT(t.Context(), "t.example."); err != nil || !slices.Equal(got, []string{odd}) {
				t.Errorf("the text is %q, %v, want %q", got, err, odd)
			}
		}
	}
}

// await asks until a name leads to what is wanted, and returns the last answer: the server looks for a changed file now and then.
func await(t *testing.T, resolver *net.Resolver, name, want string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for {
		addresses, err := resolver.LookupNetIP(ctx, "ip", name)
		if got := fmt.Sprint(addresses); got == want || ctx.Err() != nil {
			return got, err
		}
	}
}

// TestPlugins: a Corefile that names a plugin which is not there does not start.
func TestPlugins(t *testing.T) {
	t.Parallel()
	registered := caddy.ListPlugins()["others"]
	var missing []string
	for _, name := range []string{
		"bind", "cache", "errors", "file", "forward", "header", "health", "hosts", "kubernetes", "loadbalance", "log", "loop", "prometheus", "ready", "reload",
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
