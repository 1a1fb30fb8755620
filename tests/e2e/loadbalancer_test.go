// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// outside are two load balancers with the same port. The first stays until the end of the shoot; the second leads only to machines with pods.
const outside = `
apiVersion: v1
kind: Service
metadata: {name: outside, annotations: {of: owner}}
spec: {type: LoadBalancer, selector: {app: hello}, ports: [{name: web, port: 80, targetPort: 8080}, {name: names, protocol: UDP, port: 80, targetPort: 8080}]}
---
apiVersion: v1
kind: Service
metadata: {name: outside-local}
spec: {type: LoadBalancer, externalTrafficPolicy: Local, selector: {app: hello}, ports: [{port: 80, targetPort: 8080}]}
`

// balancers are the load balancers of the shoot in the seed.
func (w *world) balancers(args ...string) []string {
	return w.seed(append([]string{"-n", "shoot--meadow--" + shootName, "get", "services", "-l", "local.provider.extensions.gardener.cloud/load-balancer"}, args...)...)
}

// addressOf waits until a Service of the shoot has the address of a load balancer.
func (w *world) addressOf(t *testing.T, service string) string {
	t.Helper()
	address := ""
	w.eventually(t, time.Minute, "the load balancer of "+service+" has an address", func() (bool, string) {
		r := w.try(t, "", w.shoot("get", "service", service, "-o", "jsonpath={.status.loadBalancer.ingress[*].ip}")...)
		address = strings.TrimSpace(r.stdout)
		return r.code == 0 && strings.HasPrefix(address, "10.99.1."), r.all()
	})
	return address
}

// answer is what a URL answers to the machine of the playground, or why it does not.
func answer(t *testing.T, url string) (string, bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	// A connection that is kept would outlive what no longer allows it.
	request.Close = true
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err.Error(), false
	}
	defer response.Body.Close() //nolint:errcheck // It is only read.
	said, err := io.ReadAll(response.Body)
	return string(said), err == nil && strings.Contains(string(said), "Hello from hello-")
}

// balanced reaches Services of the shoot from the machine of the playground and from pods, by the addresses of their load balancers.
func balanced(t *testing.T, w *world) {
	t.Helper()
	w.mustWith(t, outside, w.shoot("apply", "-f", "-")...)
	addresses := map[string]string{}
	for _, service := range []string{"outside", "outside-local"} {
		address := w.addressOf(t, service)
		if other, taken := addresses[address]; taken {
			t.Errorf("%s and %s have the same address %s", other, service, address)
		}
		addresses[address] = service
		w.eventually(t, time.Minute, service+" answers", func() (bool, string) {
			said, answers := answer(t, "http://"+address)
			return answers, said
		})
		w.says(t, time.Minute, "Hello from hello-", w.shoot("exec", "deployment/hello", "--", "hello", "http://"+address)...)
	}
	if made := w.must(t, w.balancers("-o", "yaml")...); strings.Contains(made, "of: owner") || !strings.Contains(made, "protocol: UDP") {
		t.Errorf("in the seed there is\n%s", made)
	}

	url := "http://" + w.addressOf(t, "outside-local")
	w.must(t, w.shoot("patch", "service", "outside-local", "--type=merge", "-p", `{"spec":{"loadBalancerSourceRanges":["192.0.2.0/24"]}}`)...)
	w.eventually(t, time.Minute, "who is not among the clients is not let in", func() (bool, string) {
		said, answers := answer(t, url)
		return !answers, said
	})
	w.must(t, w.shoot("delete", "service", "outside-local", "--timeout=60s")...)
	left := strings.Fields(w.must(t, w.balancers("-o", "name")...))
	if len(left) != 1 {
		t.Errorf("after the end of one of two load balancers the seed has %q", left)
	}
	host := strings.TrimPrefix(url, "http://")
	w.eventually(t, time.Minute, "the address is given up", func() (bool, string) {
		has := w.must(t, "ip", "-o", "address")
		return !strings.Contains(has, " "+host+"/"), has
	})
}
