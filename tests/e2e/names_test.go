// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

const (
	// internalName is what the machines call the API server of the shoot.
	internalName = "api." + shootName + ".meadow.internal.terrarium.local"
	// externalName is in a zone of the seed's name server, as the domain of an owner may be.
	externalName = "api." + shootName + ".example"
	// seedResolver is where the name server of the seed listens.
	seedResolver = "10.99.0.1:7253"
)

// records looks up DNS records in a pod of the shoot and at the name server of the seed: the one of the API server, which leads to its load
// balancer, and those of an owner's domain, which appear, get another type, and go.
func records(t *testing.T, w *world) {
	t.Helper()
	const home = "shoot--meadow--" + shootName
	address := w.must(t, w.seed("-n", home, "get", "service", "kube-apiserver", "-o", "jsonpath={.status.loadBalancer.ingress[0].ip}")...)
	hosts := w.must(t, w.seed("-n", home, "get", "configmap", "dns-records", "-o", "jsonpath={.data.hosts}")...)
	if strings.Contains(hosts, internalName) {
		t.Errorf("the hosts file of the machines has names that the name server has:\n%s", hosts)
	}
	inPod := func(name, want string) {
		t.Helper()
		w.says(t, time.Minute, want, w.shoot("exec", "deployment/hello", "--", "hello", name)...)
	}
	inPod(internalName, address+"\n")
	w.resolves(t, internalName, address)

	order := func(name, host, kind, value string) {
		t.Helper()
		w.mustWith(t, fmt.Sprintf(`{"apiVersion":"extensions.gardener.cloud/v1alpha1","kind":"DNSRecord","metadata":{"namespace":%q,"name":%q,
			"annotations":{"gardener.cloud/operation":"reconcile"}},"spec":{"type":"local","name":%q,"recordType":%q,"values":[%q],"secretRef":{"name":"none"}}}`,
			home, name, host, kind, value), w.seed("apply", "-f", "-")...)
	}
	drop := func(name string) {
		t.Helper()
		w.must(t, w.seed("-n", home, "annotate", "dnsrecord", name, "confirmation.gardener.cloud/deletion=true")...)
		w.must(t, w.seed("-n", home, "delete", "dnsrecord", name, "--timeout=60s")...)
	}
	order("e2e-external", externalName, "A", address)
	order("e2e-ingress", "*.ingress."+shootName+".example", "A", "192.0.2.7")
	inPod(externalName, address+"\n")
	inPod("any.ingress."+shootName+".example", "192.0.2.7\n")
	w.resolves(t, externalName, address)

	// A name that leads to another one takes the place of one that leads to an address.
	drop("e2e-external")
	order("e2e-external", externalName, "CNAME", internalName)
	w.resolves(t, externalName, address)
	w.must(t, w.seed("-n", home, "wait", "dnsrecord/e2e-external", "--for=jsonpath={.status.lastOperation.state}=Succeeded", "--timeout=60s")...)

	order("e2e-foreign", "api.github.com", "A", "192.0.2.9")
	w.says(t, time.Minute, "has no zone for the name", w.seed("-n", home, "get", "dnsrecord", "e2e-foreign", "-o", "jsonpath={.status.lastError.description}")...)
	order("e2e-second", externalName, "A", "192.0.2.9")
	w.says(t, time.Minute, "another record has the name", w.seed("-n", home, "get", "dnsrecord", "e2e-second", "-o", "jsonpath={.status.lastError.description}")...)
	for _, name := range []string{"e2e-foreign", "e2e-second", "e2e-external", "e2e-ingress"} {
		drop(name)
	}
	w.resolves(t, externalName)
	w.resolves(t, "any.ingress."+shootName+".example")
	w.eventually(t, time.Minute, "the names are gone in the shoot", func() (bool, string) {
		r := w.try(t, "", w.shoot("exec", "deployment/hello", "--", "hello", externalName)...)
		return r.code != 0 && strings.Contains(r.all(), "no such host"), r.all()
	})
	w.resolves(t, internalName, address)
}

// resolves waits until the name server of the seed has these addresses for a name, and no others.
func (w *world) resolves(t *testing.T, name string, want ...string) {
	t.Helper()
	resolver := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, seedResolver)
	}}
	w.eventually(t, 30*time.Second, fmt.Sprintf("%s leads to %v", name, want), func() (bool, string) {
		got, err := resolver.LookupHost(t.Context(), name+".")
		diff := cmp.Diff(want, got, cmpopts.EquateEmpty())
		return diff == "", fmt.Sprintf("%v, addresses (-want +got):\n%s", err, diff)
	})
}
