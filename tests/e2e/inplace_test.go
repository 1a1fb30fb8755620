// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// inPlace adds a pool that is updated in place, and changes what its kubelet reserves, for which machines of other pools are replaced. Machine,
// pod and node stay the same objects, and the kubelet is another one.
func inPlace(t *testing.T, w *world) {
	t.Helper()
	const pool, at = "worker.gardener.cloud/pool=steady", "/spec/provider/workers/"
	plane := "shoot--meadow--" + shootName
	patch := func(operation string) {
		t.Helper()
		w.must(t, w.garden("-n", namespace, "patch", "shoot", shootName, "--type=json", "-p", "["+operation+"]")...)
	}
	succeeds := func() {
		t.Helper()
		generation := w.must(t, w.garden("-n", namespace, "get", "shoot", shootName, "-o", "jsonpath={.metadata.generation}")...)
		w.says(t, 4*time.Minute, generation+" Succeeded", w.garden("-n", namespace, "get", "shoot", shootName, "-o",
			"jsonpath={.status.observedGeneration} {.status.lastOperation.state} {.status.lastOperation.description} {.status.lastErrors}")...)
	}
	patch(`{"op":"add","path":"` + at + `-","value":{"name":"steady","minimum":1,"maximum":1,"updateStrategy":"AutoInPlaceUpdate",
"machine":{"type":"local","image":{"name":"local","version":"1.36.3"}}}}`)
	succeeds()
	same := func() string {
		t.Helper()
		return w.must(t, w.seed("-n", plane, "get", "machines", "-l", pool, "-o", "jsonpath={.items[*].metadata.uid}")...) +
			" " + w.must(t, w.shoot("get", "nodes", "-l", pool, "-o", "jsonpath={.items[*].metadata.uid} {.items[*].status.nodeInfo.bootID}")...)
	}
	hash := w.seed("-n", plane, "get", "worker", shootName, "-o", "jsonpath={.status.inPlaceUpdates.workerPoolToHashMap.steady}")
	before, was := same(), w.must(t, hash...)
	if len(strings.Fields(before)) != 3 || was == "" {
		t.Fatalf("machine, node and its start are %q, updated to %q; want one of each", before, was)
	}
	patch(`{"op":"add","path":"` + at + `1/kubernetes","value":{"kubelet":{"kubeReserved":{"cpu":"135m"}}}}`)
	w.says(t, 3*time.Minute, "865m", w.shoot("get", "nodes", "-l", pool, "-o", "jsonpath={.items[*].status.allocatable.cpu}")...)
	succeeds()
	if diff := cmp.Diff(strings.Fields(before), strings.Fields(same())); diff != "" {
		t.Errorf("machine, node and its start are not the same as before (-want +got):\n%s", diff)
	}
	if now := w.must(t, hash...); now == was {
		t.Errorf("the pool is updated to %q, as before", now)
	}
	w.says(t, time.Minute, "UpdateSuccessful", w.shoot("get", "nodes", "-l", pool, "-o", `jsonpath={.items[*].status.conditions[?(@.type=="InPlaceUpdate")].reason}`)...)
	if cordoned := w.must(t, w.shoot("get", "nodes", "-l", pool, "-o", "jsonpath={.items[*].spec.unschedulable}")...); strings.TrimSpace(cordoned) != "" {
		t.Errorf("the node takes no pods after its update: %q", cordoned)
	}
	patch(`{"op":"remove","path":"` + at + `1"}`)
	succeeds()
	w.gone(t, 2*time.Minute, w.seed("-n", plane, "get", "machinedeployment", plane+"-steady")...)
}
