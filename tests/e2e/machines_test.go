// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// machines deletes a machine, which stays until a PodDisruptionBudget lets its pods go, and then changes the pool so that its machines are
// replaced.
func machines(t *testing.T, w *world) {
	t.Helper()
	plane := "shoot--meadow--" + shootName
	list := w.seed("-n", plane, "get", "machines", "-o", "jsonpath={range .items[*]}{.metadata.name} {.status.currentStatus.phase};{end}")
	name := strings.TrimSuffix(strings.TrimSpace(w.must(t, list...)), " Running;")
	if name == "" || strings.Contains(name, " ") {
		t.Fatalf("machines are %q, want one that is running", name)
	}
	w.must(t, w.shoot("create", "pdb", "hello", "--min-available=1", "--selector=app=hello")...)
	w.must(t, w.seed("-n", plane, "delete", "machine", name, "--wait=false")...)
	w.says(t, time.Minute, "a PodDisruptionBudget does not allow its eviction",
		w.seed("-n", plane, "get", "machine", name, "-o", "jsonpath={.status.currentStatus.phase} {.status.lastOperation.description}")...)
	w.says(t, 2*time.Minute, " Running;", list...)
	w.must(t, w.seed("-n", plane, "get", "machine", name)...)
	w.must(t, w.shoot("scale", "deployment/hello", "--replicas=2")...)
	w.gone(t, 2*time.Minute, w.seed("-n", plane, "get", "machine", name)...)
	w.must(t, w.shoot("delete", "pdb", "hello")...)
	w.must(t, w.shoot("scale", "deployment/hello", "--replicas=1")...)

	before := w.must(t, w.seed("-n", plane, "get", "machines", "-o", "name")...)
	pool := `[{"op":"add","path":"/spec/provider/workers/0/providerConfig","value":{"apiVersion":"local.provider.extensions.gardener.cloud/v1alpha1","kind":"WorkerConfig"}}]`
	w.must(t, w.garden("-n", namespace, "patch", "shoot", shootName, "--type=json", "-p", pool)...)
	w.eventually(t, 4*time.Minute, "the machine is replaced", func() (bool, string) {
		now := w.must(t, w.seed("-n", plane, "get", "machines", "-o", "name")...)
		return now != "" && !strings.Contains(now, strings.TrimSpace(before)), now
	})
	w.healthy(t, 4*time.Minute, shootName)
	w.says(t, time.Minute, "Hello from hello-", w.shoot("exec", "deployment/hello", "--", "hello", "http://hello")...)
}

// nodeAgent changes a setting of the kubelets and reads it back from the node. The machine stays the same, and so do its pods.
func nodeAgent(t *testing.T, w *world) {
	t.Helper()
	plane := "shoot--meadow--" + shootName
	machines := w.seed("-n", plane, "get", "machines", "-o", "name")
	before, pod := w.must(t, machines...), w.must(t, w.shoot("get", "pods", "-l", "app=hello", "-o", "name")...)
	w.says(t, time.Minute, "gardener-node-agent-", w.shoot("-n", "kube-system", "get", "leases", "-o", "name")...)
	w.must(t, w.garden("-n", namespace, "annotate", "shoot", shootName, "shoot.gardener.cloud/cloud-config-execution-max-delay-seconds=0")...)
	w.must(t, w.garden("-n", namespace, "patch", "shoot", shootName, "--type=merge", "-p", `{"spec":{"kubernetes":{"kubelet":{"maxPods":77}}}}`)...)
	w.says(t, 3*time.Minute, "77", w.shoot("get", "nodes", "-o", "jsonpath={.items[*].status.allocatable.pods}")...)
	w.healthy(t, 4*time.Minute, shootName)
	wanted := w.must(t, w.shoot("-n", "kube-system", "get", "secrets", "-l", "gardener.cloud/role=operating-system-config",
		"-o", `jsonpath={.items[*].metadata.annotations.checksum/data-script}`)...)
	w.says(t, time.Minute, strings.TrimSpace(wanted), w.shoot("get", "nodes", "-o", `jsonpath={.items[*].metadata.annotations.checksum/cloud-config-data}`)...)
	after := w.must(t, machines...) + w.must(t, w.shoot("get", "pods", "-l", "app=hello", "-o", "name")...)
	if diff := cmp.Diff(before+pod, after); diff != "" {
		t.Errorf("machines and pods are not the same as before (-want +got):\n%s", diff)
	}
}

// silentKubelet stops the kubelet of a machine without ending it. The shoot says which node is not ready for as long as that lasts, which is
// too short for the machine to be replaced.
func silentKubelet(t *testing.T, w *world) {
	t.Helper()
	plane := "shoot--meadow--" + shootName
	machine := w.must(t, w.seed("-n", plane, "get", "pods", "-l", "app=machine", "-o", "jsonpath={.items[0].metadata.name}")...)
	nodes := w.shoot("get", "nodes", "-o", "jsonpath={range .items[*]}{.metadata.name} {.metadata.uid}{end}")
	before := w.must(t, nodes...)
	name, _, _ := strings.Cut(before, " ")
	send := func(signal string) {
		w.must(t, w.seed("-n", plane, "exec", machine, "--", "sh", "-c", "kill -"+signal+" $(cat /run/machine/kubelet.service.pid)")...)
	}
	ready := func(part string) []string {
		return w.garden("-n", namespace, "get", "shoot", shootName, "-o", `jsonpath={.status.conditions[?(@.type=="EveryNodeReady")].`+part+"}")
	}
	w.says(t, time.Minute, "True", ready("status")...)
	began := time.Now()
	send("STOP")
	t.Cleanup(func() { send("CONT") })
	w.says(t, 2*time.Minute, "False", ready("status")...)
	t.Logf("after %s: %s", time.Since(began).Round(time.Second), w.must(t, ready("message")...))
	// The seed notices a machine that does not answer before the shoot gives up on its node.
	w.says(t, 2*time.Minute, fmt.Sprintf("Node %q of pool %q: it is not ready", name, "worker"), ready("message")...)
	if why := w.must(t, ready("reason")...); why != "NodeUnhealthy" {
		t.Errorf("the reason is %q", why)
	}
	t.Logf("after %s the node is named", time.Since(began).Round(time.Second))
	began = time.Now()
	send("CONT")
	w.says(t, 2*time.Minute, "True", ready("status")...)
	t.Logf("the node is ready again %s after its kubelet goes on", time.Since(began).Round(time.Second))
	if diff := cmp.Diff(strings.Fields(before), strings.Fields(w.must(t, nodes...))); diff != "" {
		t.Errorf("name and UID of the node (-want +got):\n%s", diff)
	}
	w.says(t, time.Minute, "Hello from hello-", w.shoot("exec", "deployment/hello", "--", "hello", "http://hello")...)
}
