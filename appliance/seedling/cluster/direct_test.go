// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/http/httpproxy"

	"github.com/terrarium-garden/terrarium/appliance/seedling/cluster"
)

// TestDirect asks the library with which Go programs choose a proxy.
func TestDirect(t *testing.T) {
	t.Parallel()
	caller := map[string]string{"NO_PROXY": "intranet.example", "no_proxy": ""}
	variables := cluster.NewConfig("/var/lib/seedling").Direct(func(name string) string { return caller[name] })
	upper, _ := strings.CutPrefix(variables[0], "NO_PROXY=")
	lower, _ := strings.CutPrefix(variables[1], "no_proxy=")
	if diff := cmp.Diff(upper, lower); diff != "" {
		t.Errorf("Some programs read one variable, some the other (-upper +lower):\n%s", diff)
	}
	choose := (&httpproxy.Config{HTTPProxy: "http://proxy.example", HTTPSProxy: "http://proxy.example", NoProxy: upper}).ProxyFunc()
	for address, want := range map[string]bool{
		"https://10.99.0.1:7443":                false,
		"https://10.98.0.7":                     false,
		"https://10.97.0.1":                     false,
		"https://10.99.1.3":                     false,
		"https://hook.garden.svc":               false,
		"https://hook.garden.svc.cluster.local": false,
		"https://intranet.example":              false,
		"https://registry.example/image":        true,
		"https://terrarium.example":             true,
		"http://192.0.2.1/outside":              true,
		"http://localhost:7248/healthz":         false,
		"https://127.0.0.1:7257/healthz":        false,
	} {
		target, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		if proxy, err := choose(target); err != nil || (proxy != nil) != want {
			t.Errorf("Only what is outside of the cluster is reached through a proxy: %s through %v, %v", address, proxy, err)
		}
	}
}
