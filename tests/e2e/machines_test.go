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
