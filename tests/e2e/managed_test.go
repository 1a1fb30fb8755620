// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// managed has the resource manager bring an object into the seed and one into the shoot, and take them away again.
func managed(t *testing.T, w *world) {
	t.Helper()
	w.must(t, w.seed("-n", "garden", "rollout", "status", "deployment/gardener-resource-manager", "--timeout=90s")...)
	const home = "shoot--meadow--" + shootName
	secret := `{"apiVersion":"v1","kind":"Secret","metadata":{"namespace":"` + home + `","name":"e2e"},"stringData":{"a.yaml":"{apiVersion: v1, kind: ConfigMap, metadata: {name: managed, namespace: default}, data: {by: nobody}}"}}`
	for class, show := range map[string]func(...string) []string{"seed": w.seed, "resources": w.shoot} {
		mr := `{"apiVersion":"resources.gardener.cloud/v1alpha1","kind":"ManagedResource","metadata":{"namespace":"` + home + `","name":"e2e"},"spec":{"class":"` + class + `","secretRefs":[{"name":"e2e"}]}}`
		w.mustWith(t, secret, w.seed("apply", "-f", "-")...)
		w.mustWith(t, mr, w.seed("apply", "-f", "-")...)
		w.must(t, w.seed("-n", home, "wait", "managedresource/e2e", "--for=condition=ResourcesHealthy", "--timeout=60s")...)
		w.says(t, time.Minute, "nobody", show("get", "configmap", "managed", "-o", "jsonpath={.data.by}")...)
		w.must(t, w.seed("-n", home, "delete", "managedresource", "e2e", "--timeout=60s")...)
		w.gone(t, time.Minute, show("get", "configmap", "managed")...)
	}
	w.must(t, w.seed("-n", home, "delete", "secret", "e2e")...)
	killedWhileApplying(t, w, home)
}

// killedWhileApplying kills the resource manager in the middle of a run that takes objects of the shoot away, changes others, and brings new
// ones. The one that comes after it finds what it has done and what is left.
func killedWhileApplying(t *testing.T, w *world, home string) {
	t.Helper()
	const objects, overlap = 80, 40
	secret := func(first int, by string) string {
		var manifests strings.Builder
		for i := range objects {
			fmt.Fprintf(&manifests, `{apiVersion: v1, kind: ConfigMap, metadata: {name: m%03d, namespace: default, labels: {e2e: killed}}, data: {by: %s}}\n---\n`, first+i, by)
		}
		return `{"apiVersion":"v1","kind":"Secret","metadata":{"namespace":"` + home + `","name":"killed"},"stringData":{"a.yaml":"` + manifests.String() + `"}}`
	}
	list := w.shoot("-n", "default", "get", "configmaps", "-l", "e2e=killed", "--sort-by=.metadata.name", "-o", "jsonpath={range .items[*]}{.metadata.name}={.data.by} {end}")
	want := func(first int, by string) string {
		var all strings.Builder
		for i := range objects {
			fmt.Fprintf(&all, "m%03d=%s ", first+i, by)
		}
		return all.String()
	}
	holds := func(want string) {
		w.eventually(t, 2*time.Minute, "the objects are as they are wanted", func() (bool, string) {
			got := w.must(t, list...)
			return strings.TrimSpace(got) == strings.TrimSpace(want), got
		})
	}
	w.mustWith(t, secret(0, "first"), w.seed("apply", "-f", "-")...)
	w.mustWith(t, `{"apiVersion":"resources.gardener.cloud/v1alpha1","kind":"ManagedResource","metadata":{"namespace":"`+home+`","name":"killed"},"spec":{"secretRefs":[{"name":"killed"}]}}`, w.seed("apply", "-f", "-")...)
	holds(want(0, "first"))

	pid := number(t, strings.Fields(w.must(t, "pgrep", "-f", "^/usr/local/bin/terrarium resource-manager"))[0])
	w.mustWith(t, secret(objects-overlap, "second"), w.seed("apply", "-f", "-")...)
	w.eventually(t, time.Minute, "the resource manager is at work", func() (bool, string) {
		got := strings.Fields(w.must(t, list...))
		return slices.ContainsFunc(got, func(one string) bool { return strings.HasSuffix(one, "=second") }), fmt.Sprint(got)
	})
	signal(t, pid, syscall.SIGKILL)
	killed := time.Now()
	w.ended(t, []int{pid})
	done := strings.Count(w.must(t, list...), "=second")
	holds(want(objects-overlap, "second"))
	w.must(t, w.seed("-n", home, "wait", "managedresource/killed", "--for=condition=ResourcesHealthy", "--timeout=60s")...)
	t.Logf("killed when it had applied %d of %d objects; %s later all are as they are wanted, and none that left the manifests is there", done, objects, time.Since(killed).Round(time.Second))
	w.must(t, w.seed("-n", home, "delete", "managedresource", "killed", "--timeout=120s")...)
	holds("")
	w.must(t, w.seed("-n", home, "delete", "secret", "killed")...)
	w.must(t, w.seed("-n", "garden", "rollout", "status", "deployment/gardener-resource-manager", "--timeout=90s")...)
}
