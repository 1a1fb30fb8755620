// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// strangers are two pods in the namespace of a shoot. Nothing knows them; one has the label for DNS.
const strangers = `
apiVersion: v1
kind: Pod
metadata: {name: stranger, namespace: %[1]s}
spec:
  automountServiceAccountToken: false
  containers: [{name: hello, image: "terrarium.garden/hello:v1"}]
---
apiVersion: v1
kind: Pod
metadata: {name: resolver, namespace: %[1]s, labels: {networking.gardener.cloud/to-dns: allowed}}
spec:
  automountServiceAccountToken: false
  containers: [{name: hello, image: "terrarium.garden/hello:v1"}]
`

// closedNamespaces asks from pods in the namespace of a shoot for everything that the pods of its control plane reach. What is refused is
// refused with an answer, so nothing has to time out; the API servers refuse what is not encrypted, and then they were reached.
func closedNamespaces(t *testing.T, w *world) {
	t.Helper()
	plane := "shoot--meadow--" + shootName
	w.mustWith(t, fmt.Sprintf(strangers, plane), w.seed("apply", "-f", "-")...)
	w.must(t, w.seed("-n", plane, "wait", "--for=condition=Ready", "--timeout=60s", "pod/stranger", "pod/resolver")...)
	address := func(args ...string) string {
		t.Helper()
		return strings.TrimSpace(w.must(t, w.seed(args...)...))
	}
	shoot := address("-n", plane, "get", "service", "kube-apiserver", "-o", "jsonpath={.spec.clusterIP}") + ":443"
	etcd := address("-n", plane, "get", "service", "etcd-main-client", "-o", "jsonpath={.spec.clusterIP}") + ":2379"
	seed := address("get", "endpoints", "kubernetes", "-o", "jsonpath={.subsets[0].addresses[0].ip}:{.subsets[0].ports[0].port}")
	machine := address("-n", plane, "get", "pods", "-l", "app=machine", "-o", "jsonpath={.items[0].status.podIP}") + ":10250"
	peer := address("-n", plane, "get", "pod", "resolver", "-o", "jsonpath={.status.podIP}") + ":8080"
	expect := func(pod, what, want string) {
		t.Helper()
		w.eventually(t, 30*time.Second, fmt.Sprintf("from %s to %s: %s", pod, what, want), func() (bool, string) {
			r := w.try(t, "", w.seed("-n", plane, "exec", pod, "--", "/usr/local/bin/hello", what)...)
			return strings.Contains(r.all(), want), r.all()
		})
	}
	const refused = "no route to host"
	for _, pod := range []string{"stranger", "resolver"} {
		for _, target := range []string{shoot, etcd, seed, machine, peer} {
			if pod == "resolver" && target == peer {
				continue // What a pod sends to itself is not judged.
			}
			expect(pod, "http://"+target, refused)
		}
	}
	expect("stranger", "kube-apiserver", `look up "kube-apiserver"`)
	expect("resolver", "kube-apiserver", strings.TrimSuffix(shoot, ":443"))
	// A label opens the way at once, and only this one.
	w.must(t, w.seed("-n", plane, "label", "pod", "stranger", "networking.resources.gardener.cloud/to-kube-apiserver-tcp-443=allowed")...)
	expect("stranger", "http://"+shoot, "400 Bad Request")
	expect("stranger", "http://"+etcd, refused)
	w.must(t, w.seed("-n", plane, "delete", "pod", "stranger", "resolver", "--now")...)
}
