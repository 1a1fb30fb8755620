// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"
)

// throughTheTunnel reaches a pod in every way that users have, and sees each on its way through the tunnel: the API server of a shoot has
// no other way to its nodes. When the agents are gone, nothing comes through, and the shoot says so.
func throughTheTunnel(t *testing.T, w *world) {
	t.Helper()
	plane := "shoot--meadow--" + shootName
	closedToAPIServer(t, w, plane, []string{
		w.must(t, w.seed("-n", plane, "get", "pods", "-l", "app=machine", "-o", "jsonpath={.items[0].status.podIP}")...) + ":10250",
		w.must(t, w.shoot("get", "pods", "-l", "app=hello", "-o", "jsonpath={.items[0].status.podIP}")...) + ":8080",
	})
	pod := w.must(t, w.shoot("get", "pods", "-l", "app=hello", "-o", "jsonpath={.items[0].metadata.name}")...)
	for name, reach := range map[string]func(){
		"logs": func() { w.must(t, w.shoot("logs", pod)...) },
		"exec": func() {
			w.says(t, time.Minute, "Hello from hello-", w.shoot("exec", pod, "--", "hello", "http://127.0.0.1:8080")...)
		},
		"port-forward": func() { forwarded(t, w, pod, w.shoot) },
		"proxy to a pod": func() {
			w.says(t, time.Minute, "Hello from hello-", w.shoot("get", "--raw", "/api/v1/namespaces/default/pods/"+pod+":8080/proxy/")...)
		},
		"proxy to a Service": func() {
			w.says(t, time.Minute, "Hello from hello-", w.shoot("get", "--raw", "/api/v1/namespaces/default/services/hello:80/proxy/")...)
		},
	} {
		before := packets(t, w, plane)
		reach()
		if after := packets(t, w, plane); after <= before {
			t.Errorf("%s: the tunnel has seen %d packets before and %d after", name, before, after)
		}
	}
	withoutAgents(t, w, plane, pod)
}

// closedToAPIServer looks from a pod that may reach what the API server may: the direct way is closed.
func closedToAPIServer(t *testing.T, w *world, plane string, addresses []string) {
	t.Helper()
	const name = "impostor"
	labels := strings.NewReplacer(`"`, "", "{", "", "}", "", ":", "=").Replace(
		w.must(t, w.seed("-n", plane, "get", "pods", "-l", "role=apiserver", "-o", "jsonpath={.items[0].metadata.labels}")...))
	var own []string
	for label := range strings.SplitSeq(labels, ",") {
		if strings.HasPrefix(label, "networking.") {
			own = append(own, label)
		}
	}
	w.must(t, w.seed("-n", plane, "run", name, "--image=terrarium.garden/hello:v1", "--image-pull-policy=IfNotPresent", "--restart=Never", "--labels="+strings.Join(own, ","))...)
	w.must(t, w.seed("-n", plane, "wait", "--for=condition=Ready", "--timeout=60s", "pod/"+name)...)
	for _, address := range addresses {
		w.eventually(t, 30*time.Second, "nothing but the tunnel leads from the API server to "+address, func() (bool, string) {
			r := w.try(t, "", w.seed("-n", plane, "exec", name, "--", "/usr/local/bin/hello", "http://"+address)...)
			return strings.Contains(r.all(), "no route to host"), r.all()
		})
	}
	w.must(t, w.seed("-n", plane, "delete", "pod", name, "--now")...)
}

// packets is what the server of the tunnel has sent and received so far, all instances together.
func packets(t *testing.T, w *world, plane string) int {
	t.Helper()
	sum := 0
	for pod := range strings.FieldsSeq(w.must(t, w.seed("-n", plane, "get", "pods", "-l", "role=apiserver", "-o", "jsonpath={.items[*].metadata.name}")...)) {
		metrics := w.must(t, w.seed("get", "--raw", "/api/v1/namespaces/"+plane+"/pods/"+pod+":8134/proxy/metrics")...)
		for line := range strings.Lines(metrics) {
			if !strings.HasPrefix(line, "konnectivity_network_proxy_server_stream_packets_total") || !strings.Contains(line, "DATA") {
				continue
			}
			value, err := strconv.ParseFloat(strings.Fields(line)[1], 64)
			if err != nil {
				t.Fatal(err)
			}
			sum += int(value)
		}
	}
	return sum
}

// forwarded asks the pod through a forwarded port.
func forwarded(t *testing.T, w *world, pod string, shoot func(args ...string) []string) {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := listener.Addr().(*net.TCPAddr).Port //nolint:forcetypeassert // It listens on TCP.
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	stop := w.background(t, shoot("port-forward", pod, fmt.Sprintf("%d:8080", port))...)
	defer stop()
	w.eventually(t, time.Minute, "the forwarded port answers", func() (bool, string) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d/", port), nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return false, err.Error()
		}
		defer response.Body.Close() //nolint:errcheck // It is only read.
		said, err := io.ReadAll(response.Body)
		return err == nil && strings.Contains(string(said), "Hello from hello-"), string(said)
	})
}

// withoutAgents takes the agents away, against the resource manager, and gives them back.
func withoutAgents(t *testing.T, w *world, plane, pod string) {
	t.Helper()
	system := w.garden("-n", namespace, "get", "shoot", shootName, "-o", `jsonpath={.status.conditions[?(@.type=="SystemComponentsHealthy")].reason}`)
	w.must(t, w.seed("-n", plane, "annotate", "managedresource", "shoot-core-konnectivity-agent", "resources.gardener.cloud/ignore=true")...)
	w.must(t, w.shoot("-n", "kube-system", "scale", "deployment", "konnectivity-agent", "--replicas=0")...)
	w.must(t, w.shoot("-n", "kube-system", "wait", "--for=delete", "pod", "-l", "type=tunnel", "--timeout=60s")...)
	w.eventually(t, 30*time.Second, "without agents nothing comes through", func() (bool, string) {
		r := w.try(t, "", w.shoot("exec", pod, "--", "hello", "http://127.0.0.1:8080")...)
		return r.code != 0, r.all()
	})
	w.says(t, 2*time.Minute, "NoTunnelDeployed", system...)
	w.must(t, w.seed("-n", plane, "annotate", "managedresource", "shoot-core-konnectivity-agent", "resources.gardener.cloud/ignore-")...)
	w.says(t, 2*time.Minute, "Hello from hello-", w.shoot("exec", pod, "--", "hello", "http://127.0.0.1:8080")...)
	w.says(t, 2*time.Minute, "SystemComponentsRunning", system...)
}
