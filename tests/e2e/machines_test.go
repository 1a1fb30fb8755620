// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"strings"
	"testing"
	"time"
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
	if after := w.must(t, machines...); after != before {
		t.Errorf("machines are %q, want the same as before, %q", after, before)
	}
	if after := w.must(t, w.shoot("get", "pods", "-l", "app=hello", "-o", "name")...); after != pod {
		t.Errorf("pods are %q, want the same as before, %q", after, pod)
	}
}
