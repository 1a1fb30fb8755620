// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var (
	// density is how many shoots one seed has in the end.
	density = flag.Int("density", 0, "measure a seed with that many shoots; 0 for not at all")
	// settled is how long what was made may settle, and how long it is measured then.
	settled = flag.Duration("settled", time.Minute, "how long the seed rests before it is measured, and while it is")
	// managedResources is how many ManagedResources the seed has beside its own.
	managedResources = flag.Int("managed-resources", 200, "how many ManagedResources are made for the measurement")
)

// TestDensity measures what a shoot costs its seed at rest, and how long it takes until one answers.
//
//nolint:paralleltest // one machine holds one playground
func TestDensity(t *testing.T) {
	if *density == 0 {
		t.Skip("asked for by -density; see make bench-seed")
	}
	w := newWorld(t)
	t.Cleanup(func() {
		if t.Failed() {
			w.keepLogs(t)
		}
		w.must(t, "scripts/playground", "down")
	})
	w.must(t, "scripts/playground", "down")
	t.Log(w.must(t, "scripts/playground", "up"))
	t.Logf("a seed with one shoot: pods, thousandths of a processor, memory%s", table(share(w.rest(t, *settled), component)))

	w.mustWith(t, fmt.Sprintf(endManifest, "bare", endWorkerless), w.garden("create", "-f", "-")...)
	w.createdSoon(t, endPrefix+"bare")
	t.Logf("and a shoot without workers, whose control plane is a bare one%s", table(share(w.rest(t, *settled), component)))
	w.must(t, w.garden("-n", namespace, "delete", "shoot", endPrefix+"bare")...)

	w.manage(t, *managedResources)
	t.Logf("with %d ManagedResources more%s", *managedResources, table(share(w.rest(t, *settled), component)))
	w.must(t, w.seed("-n", "garden", "delete", "managedresources", "-l", "for=density")...)

	w.orderAlone(t, "alone")
	began := time.Now()
	for i := 2; i < *density; i++ {
		w.mustWith(t, w.shootManifest(t, "name: "+shootName, fmt.Sprintf("name: dense%d", i)), w.garden("create", "-f", "-")...)
	}
	for i := 2; i < *density; i++ {
		w.createdSoon(t, fmt.Sprintf("dense%d", i))
	}
	t.Logf("%d shoots at once were created after %s", *density-2, time.Since(began).Round(time.Second/10))
	t.Logf("a seed with %d shoots%s", *density, table(share(w.rest(t, *settled), func(pod string) string {
		namespace, _, _ := strings.Cut(pod, "/")
		return namespace
	})))
}

// createdSoon waits until a shoot is created.
func (w *world) createdSoon(t *testing.T, name string) {
	t.Helper()
	w.eventually(t, 15*time.Minute, name+" is created", func() (bool, string) {
		state := w.must(t, w.garden("-n", namespace, "get", "shoot", name, "-o",
			"jsonpath={.status.lastOperation.state} {.status.lastOperation.progress} {.status.lastErrors}")...)
		return strings.HasPrefix(state, "Succeeded 100"), state
	})
}

// manage makes ManagedResources, each of which keeps one ConfigMap, and waits until all are applied.
func (w *world) manage(t *testing.T, count int) {
	t.Helper()
	var manifest strings.Builder
	for i := range count {
		fmt.Fprintf(&manifest, `---
apiVersion: v1
kind: Secret
metadata: {name: density-%[1]d, namespace: garden, labels: {for: density}}
stringData:
  objects.yaml: |
    {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "density-%[1]d", "namespace": "default"}, "data": {"number": "%[1]d"}}
---
apiVersion: resources.gardener.cloud/v1alpha1
kind: ManagedResource
metadata: {name: density-%[1]d, namespace: garden, labels: {for: density}}
spec: {class: seed, secretRefs: [{name: density-%[1]d}]}
`, i)
	}
	began := time.Now()
	w.mustWith(t, manifest.String(), w.seed("create", "-f", "-")...)
	made := time.Now()
	w.must(t, w.seed("-n", "garden", "wait", "managedresources", "-l", "for=density", "--for=condition=ResourcesApplied", "--timeout=5m")...)
	t.Logf("%d ManagedResources: made in %s, applied %s later", count, made.Sub(began).Round(time.Second/10), time.Since(made).Round(time.Second/10))
}

// orderAlone orders a shoot while nothing else is going on, and says when its API answers and when its node is ready.
func (w *world) orderAlone(t *testing.T, name string) {
	t.Helper()
	began := time.Now()
	w.mustWith(t, w.shootManifest(t, "name: "+shootName, "name: "+name), w.garden("create", "-f", "-")...)
	w.eventually(t, 5*time.Minute, "the API answers", func() (bool, string) {
		if said := w.takeKubeconfig(t, name); said != "" {
			return false, said
		}
		r := w.try(t, "", w.kubectl(name, "get", "--raw", "/readyz", "--request-timeout=2s")...)
		return r.code == 0, r.all()
	})
	t.Logf("a shoot that is ordered alone: its API answers after %s", time.Since(began).Round(time.Second/10))
	w.says(t, 5*time.Minute, " Ready ", w.kubectl(name, "get", "nodes", "--no-headers")...)
	t.Logf("its node is ready after %s", time.Since(began).Round(time.Second/10))
	w.healthy(t, 5*time.Minute, name)
	t.Logf("it is created after %s", time.Since(began).Round(time.Second/10))
}

// takeKubeconfig asks for a kubeconfig of a shoot until there is one, and returns why there is none yet.
func (w *world) takeKubeconfig(t *testing.T, name string) (why string) {
	t.Helper()
	path := fmt.Sprintf("/apis/core.gardener.cloud/v1beta1/namespaces/%s/shoots/%s/adminkubeconfig", namespace, name)
	r := w.try(t, `{"apiVersion":"authentication.gardener.cloud/v1alpha1","kind":"AdminKubeconfigRequest","spec":{"expirationSeconds":3600}}`,
		w.garden("create", "--raw", path, "-f", "-")...)
	var answer struct {
		Status struct {
			Kubeconfig []byte `json:"kubeconfig"`
		} `json:"status"`
	}
	if r.code != 0 || json.Unmarshal([]byte(r.stdout), &answer) != nil {
		return r.all()
	}
	if err := os.WriteFile(filepath.Join(w.state, name+".kubeconfig"), answer.Status.Kubeconfig, 0o600); err != nil {
		t.Fatal(err)
	}
	return ""
}
