// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"strconv"
	"strings"
	"testing"
	"time"
)

// throughTheTunnel reaches a shoot in every way that users have, and sees each on its way through the tunnel: the API server of a shoot has
// no other way to its nodes. When the agents are gone, nothing comes through, and the shoot says so.
func throughTheTunnel(t *testing.T, w *world) {
	t.Helper()
	plane := "shoot--meadow--" + shootName
	closedToAPIServer(t, w, plane, []string{
		w.must(t, w.seed("-n", plane, "get", "pods", "-l", "app=machine", "-o", "jsonpath={.items[0].status.podIP}")...) + ":10250",
		w.must(t, w.shoot("get", "pods", "-l", "app=hello", "-o", "jsonpath={.items[0].status.podIP}")...) + ":8080",
	})
	pod := w.must(t, w.shoot("get", "pods", "-l", "app=hello", "-o", "jsonpath={.items[0].metadata.name}")...)
	deeds{world: w, shoot: w.shoot, pod: pod}.throughTunnel(t, plane)
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
