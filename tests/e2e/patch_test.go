// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const (
	// patchVersion is that of the images in .build/patch.
	patchVersion = "1.36.4"

	// front is a deployment with a budget, which serves while its pods move: they go on for a moment when they are to end, until nobody
	// sends requests to them any more.
	front = `
apiVersion: apps/v1
kind: Deployment
metadata: {namespace: default, name: front}
spec:
  replicas: 2
  selector: {matchLabels: {app: front}}
  template:
    metadata: {labels: {app: front}}
    spec:
      nodeSelector: {worker.gardener.cloud/pool: worker}
      containers:
        - name: hello
          image: terrarium.garden/hello:v1
          imagePullPolicy: IfNotPresent
          ports: [{name: http, containerPort: 8080}]
          readinessProbe: {httpGet: {path: /, port: http}, periodSeconds: 1}
          lifecycle: {preStop: {sleep: {seconds: 5}}}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {namespace: default, name: front}
spec: {minAvailable: 1, selector: {matchLabels: {app: front}}}
---
apiVersion: v1
kind: Service
metadata: {namespace: default, name: front}
spec: {selector: {app: front}, ports: [{port: 80, targetPort: http}]}
`
	// visitor counts the answers of the Service, from a node that stays.
	visitor = `
apiVersion: apps/v1
kind: Deployment
metadata: {namespace: default, name: visitor}
spec:
  selector: {matchLabels: {app: visitor}}
  template:
    metadata: {labels: {app: visitor}}
    spec:
      nodeSelector: {worker.gardener.cloud/pool: visitors}
      terminationGracePeriodSeconds: 1
      containers: [{name: hello, image: "terrarium.garden/hello:v1", imagePullPolicy: IfNotPresent, args: [count, "http://%s"]}]
`
)

// patched gives the shoot another patch version of Kubernetes. The machines of one pool are replaced, while a visitor on another pool, which
// keeps its version, counts the answers of a deployment with a budget. Then the other pool gets the version, too, in place.
func patched(t *testing.T, w *world) {
	t.Helper()
	w.offerPatch(t)
	at := "/spec/provider/workers/"
	w.patchShoot(t, `{"op":"replace","path":"`+at+`0/minimum","value":2},{"op":"replace","path":"`+at+`0/maximum","value":2},
{"op":"add","path":"`+at+`-","value":{"name":"visitors","minimum":1,"maximum":1,"updateStrategy":"AutoInPlaceUpdate","kubernetes":{"version":"1.36.3"},
"machine":{"type":"local","image":{"name":"local","version":"1.36.3"}}}}`)
	w.mustWith(t, front, w.shoot("apply", "-f", "-")...)
	w.must(t, w.shoot("rollout", "status", "deployment/front", "--timeout=2m")...)
	address := w.must(t, w.shoot("get", "service", "front", "-o", "jsonpath={.spec.clusterIP}")...)
	w.mustWith(t, fmt.Sprintf(visitor, address), w.shoot("apply", "-f", "-")...)
	w.must(t, w.shoot("rollout", "status", "deployment/visitor", "--timeout=2m")...)
	log := w.shoot("logs", "deployment/visitor")
	w.says(t, time.Minute, "asked", log...)
	old := w.nodes(t, "worker", "{.metadata.name}")

	began := time.Now()
	w.patchShoot(t, `{"op":"replace","path":"/spec/kubernetes/version","value":"`+patchVersion+`"}`)
	ready := time.Since(began)
	w.eventually(t, 3*time.Minute, "all nodes of the pool have the version", func() (bool, string) {
		diff := cmp.Diff([]string{"v" + patchVersion, "v" + patchVersion}, w.nodes(t, "worker", "{.status.nodeInfo.kubeletVersion}"))
		return diff == "", "versions (-want +got):\n" + diff
	})
	took := time.Since(began)
	for _, name := range w.nodes(t, "worker", "{.metadata.name}") {
		if slices.Contains(old, name) {
			t.Errorf("the machine of node %q was not replaced", name)
		}
	}
	if version := w.must(t, w.shoot("get", "--raw", "/version")...); !strings.Contains(version, `"gitVersion": "v`+patchVersion+`"`) {
		t.Errorf("the API server says it is %s", version)
	}
	w.counted(t, took, ready, log)

	w.patchedInPlace(t)
	w.must(t, w.shoot("delete", "deployment,service,pdb", "front", "--ignore-not-found")...)
	w.must(t, w.shoot("delete", "deployment", "visitor")...)
	w.patchShoot(t, `{"op":"remove","path":"`+at+`1"},{"op":"replace","path":"`+at+`0/minimum","value":1},{"op":"replace","path":"`+at+`0/maximum","value":1}`)
}

// offerPatch imports the images of the other version into the seed, and has the cloud profile offer it.
func (w *world) offerPatch(t *testing.T) {
	t.Helper()
	var seedling struct{ RunDir string }
	if content, err := os.ReadFile(filepath.Join(w.seedState, "seedling.json")); err != nil || json.Unmarshal(content, &seedling) != nil {
		t.Fatalf("read where the seed runs: %v: %s", err, content)
	}
	socket := filepath.Join(seedling.RunDir, "containerd", "containerd.sock")
	for _, name := range []string{"seedling", "machine"} {
		archive := filepath.Join(w.root, ".build", "patch", "images", name+".tar")
		if _, err := os.Stat(archive); err != nil {
			t.Fatalf("%v: `make images-patch` builds it", err)
		}
		// The command that loads archives would have machines start with this one in place of that of the playground.
		w.must(t, "ctr", "--address", socket, "--namespace", "k8s.io", "images", "import", archive)
	}
	w.must(t, w.garden("patch", "cloudprofile", "local", "--type=json", "-p", `[
{"op":"add","path":"/spec/kubernetes/versions/-","value":{"version":"`+patchVersion+`","classification":"preview"}},
{"op":"add","path":"/spec/providerConfig/machineImages/0/versions/0/kubelets/-",
"value":{"version":"`+patchVersion+`","image":"terrarium.garden/machine:v`+patchVersion+`"}}]`)...)
}

// patchShoot changes the shoot, and waits until the change is carried out.
func (w *world) patchShoot(t *testing.T, operations string) {
	t.Helper()
	w.must(t, w.garden("-n", namespace, "patch", "shoot", shootName, "--type=json", "-p", "["+operations+"]")...)
	generation := w.must(t, w.garden("-n", namespace, "get", "shoot", shootName, "-o", "jsonpath={.metadata.generation}")...)
	w.says(t, 8*time.Minute, generation+" Succeeded", w.garden("-n", namespace, "get", "shoot", shootName, "-o",
		"jsonpath={.status.observedGeneration} {.status.lastOperation.state} {.status.lastOperation.description} {.status.lastErrors}")...)
}

// nodes returns something of each node of a pool.
func (w *world) nodes(t *testing.T, pool, what string) []string {
	t.Helper()
	return strings.Fields(w.must(t, w.shoot("get", "nodes", "-l", "worker.gardener.cloud/pool="+pool, "-o", "jsonpath={range .items[*]}"+what+" {end}")...))
}

// counted reads the last count of the visitor that is later than now, and tells of each failure.
func (w *world) counted(t *testing.T, took, ready time.Duration, log []string) {
	t.Helper()
	counts := regexp.MustCompile(`asked (\d+), failed (\d+)`)
	before := len(counts.FindAllString(w.must(t, log...), -1))
	var all string
	w.eventually(t, time.Minute, "the visitor goes on counting", func() (bool, string) {
		all = w.must(t, log...)
		return len(counts.FindAllString(all, -1)) > before, all[max(0, len(all)-500):]
	})
	found := counts.FindAllStringSubmatch(all, -1)
	last := found[len(found)-1]
	t.Logf("2 machines were replaced for another patch version of Kubernetes in %s (the operation took %s); of %s requests %s were not answered",
		took.Round(time.Second), ready.Round(time.Second), last[1], last[2])
	if number(t, last[2]) != 0 {
		t.Errorf("requests were not answered:\n%s", strings.Join(regexp.MustCompile(`(?m)^failed:.*$`).FindAllString(all, 20), "\n"))
	}
	// A visitor that waits for an answer does not ask again, so a long gap would show in the number.
	if asked, least := number(t, last[1]), int(took.Seconds())*10; asked < least {
		t.Errorf("only %d requests in %s, want %d at least", asked, took, least)
	}
}

// patchedInPlace gives the pool of the visitor the version of the shoot: its machine and node stay, and have another kubelet.
func (w *world) patchedInPlace(t *testing.T) {
	t.Helper()
	plane := "shoot--meadow--" + shootName
	same := func() string {
		t.Helper()
		return fmt.Sprint(w.nodes(t, "visitors", "{.metadata.uid}")) +
			w.must(t, w.seed("-n", plane, "get", "machines", "-l", "worker.gardener.cloud/pool=visitors", "-o", "jsonpath={.items[*].metadata.uid}")...)
	}
	before, began := same(), time.Now()
	if diff := cmp.Diff([]string{"v1.36.3"}, w.nodes(t, "visitors", "{.status.nodeInfo.kubeletVersion}")); diff != "" {
		t.Fatalf("the pool with a version of its own: versions (-want +got):\n%s", diff)
	}
	w.patchShoot(t, `{"op":"replace","path":"/spec/provider/workers/1/kubernetes/version","value":"`+patchVersion+`"}`)
	if diff := cmp.Diff([]string{"v" + patchVersion}, w.nodes(t, "visitors", "{.status.nodeInfo.kubeletVersion}")); diff != "" {
		t.Errorf("the pool after its update in place: versions (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before, same()); diff != "" {
		t.Errorf("node and machine are not the same as before (-want +got):\n%s", diff)
	}
	t.Logf("1 machine was updated in place to the patch version in %s", time.Since(began).Round(time.Second))
	w.says(t, 2*time.Minute, "True", w.garden("-n", namespace, "get", "shoot", shootName, "-o", `jsonpath={.status.conditions[?(@.type=="EveryNodeReady")].status}`)...)
}
