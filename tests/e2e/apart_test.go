// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const (
	// farName is the shoot whose machines are in another cluster than the seed.
	farName = "afar"

	farAPI  = "10.95.0.1"
	farPods = "10.94.0.0/16"
	farHost = "172.31.255.1"
	farSide = "172.31.255.2"
	farLink = "far0"

	// farRights are all that a provider secret needs (docs/machines.md).
	farRights = `
apiVersion: v1
kind: ServiceAccount
metadata: {namespace: default, name: machines}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: machines}
rules:
  - {apiGroups: [""], resources: [nodes], verbs: [list]}
  - {apiGroups: [""], resources: [namespaces], verbs: [get, create, delete]}
  - {apiGroups: [""], resources: [pods, secrets, configmaps, services], verbs: [get, list, watch, create, patch, update, delete]}
  - {apiGroups: [""], resources: [pods/status], verbs: [patch]}
  - {apiGroups: [discovery.k8s.io], resources: [endpointslices], verbs: [get, list, create, update, delete]}
  - {apiGroups: [networking.k8s.io], resources: [networkpolicies], verbs: [get, list, watch, create, patch, update, delete]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: machines}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: machines}
subjects: [{kind: ServiceAccount, namespace: default, name: machines}]
`
)

// apart has a shoot whose machines run in a second cluster, in a network of its own. The seed reaches the API server of that cluster and nothing
// behind it; the machines reach the load balancers of the seed. So what the API server of the shoot wants from its nodes can only come
// through the tunnel.
func apart(t *testing.T, w *world) {
	t.Helper()
	far := newFar(t)
	w.order(t, far)
	w.healthy(t, 6*time.Minute, farName)
	w.signIn(t, farName)
	shoot := func(args ...string) []string { return w.kubectl(farName, args...) }
	plane := "shoot--meadow--" + farName
	if here := w.must(t, w.seed("-n", plane, "get", "pods", "-l", "app=machine", "-o", "name")...); here != "" {
		t.Errorf("machines are in the seed: %s", here)
	}
	address := w.must(t, far.kube("-n", plane, "get", "pods", "-l", "app=machine", "-o", "jsonpath={.items[0].status.podIP}")...)
	node := w.must(t, shoot("get", "nodes", "-o", `jsonpath={.items[0].status.addresses[?(@.type=="InternalIP")].address}`)...)
	if address == "" || node != address || !strings.HasPrefix(address, "10.94.") {
		t.Errorf("the machine has the address %q, its node %q", address, node)
	}
	// There may be a way to the rest of the world, but none leads to the machines.
	if way := w.try(t, "", "ip", "route", "get", address); strings.Contains(way.stdout, farLink) {
		t.Errorf("the seed has a route to the machines, so the tunnel proves nothing: %s", way.stdout)
	}
	w.must(t, shoot("apply", "-f", "packaging/examples/hello.yaml")...)
	w.must(t, shoot("rollout", "status", "deployment/hello", "--timeout=120s")...)
	pod := w.must(t, shoot("get", "pods", "-l", "app=hello", "-o", "jsonpath={.items[0].metadata.name}")...)
	deeds{world: w, shoot: shoot, pod: pod}.throughTunnel(t, plane)
	w.says(t, time.Minute, "True", w.garden("-n", namespace, "get", "shoot", farName, "-o", `jsonpath={.status.conditions[?(@.type=="EveryNodeReady")].status}`)...)

	w.deleteShoot(t, farName)
	w.must(t, w.garden("-n", namespace, "delete", "credentialsbinding,secret", farName)...)
	if left := w.must(t, far.kube("get", "namespaces", "-o", "name")...); strings.Contains(left, "shoot--") {
		t.Errorf("in the other cluster is left: %s", left)
	}
}

// newFar starts a second cluster. The way out of its network is a link to this machine; the way in ends at its API server.
func newFar(t *testing.T) *seed {
	t.Helper()
	far := newSeed(t)
	if err := os.Symlink(filepath.Join(far.root, ".build/images/machine.tar"), filepath.Join(far.images, "machine.tar")); err != nil {
		t.Fatal(err)
	}
	for _, command := range [][]string{
		{"ip", "link", "add", farLink, "type", "veth", "peer", "name", farLink, "netns", far.namespace},
		{"ip", "address", "add", farHost + "/30", "dev", farLink},
		{"ip", "link", "set", farLink, "up"},
		far.inside("ip", "address", "add", farSide+"/30", "dev", farLink),
		far.inside("ip", "link", "set", farLink, "up"),
		far.inside("ip", "route", "add", "default", "via", farHost),
		{"ip", "route", "add", farAPI + "/32", "via", farSide},
	} {
		far.must(t, command...)
	}
	far.resolvConf = "" // Machines have that of this machine.
	far.describe(t)
	far.must(t, far.do("up", "--images", far.images)...)
	far.mustWith(t, farRights, far.kube("apply", "-f", "-")...)
	return far
}

// describe gives the cluster networks that the seed does not have.
func (s *seed) describe(t *testing.T) {
	t.Helper()
	name := filepath.Base(s.stateDir)
	run := filepath.Join("/run", name)
	content, err := json.Marshal(map[string]any{
		"stateDir": s.stateDir, "runDir": run, "nodeName": name, "nodeAddress": farAPI, "apiPort": 7443, "bridge": "seedling0",
		"pods": farPods, "nodePods": "10.94.0.0/24", "services": "10.93.0.0/16", "loadBalancers": "10.95.1.0/24",
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{s.stateDir, run} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(s.stateDir, "seedling.json"), content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// kubeconfig is that of a user who may do no more than machines need.
func (s *seed) kubeconfig(t *testing.T) string {
	t.Helper()
	token := strings.TrimSpace(s.must(t, s.kube("-n", "default", "create", "token", "machines", "--duration=12h")...))
	ca := s.must(t, s.kube("-n", "default", "get", "configmap", "kube-root-ca.crt", "-o", `jsonpath={.data.ca\.crt}`)...)
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"Config","current-context":"far","contexts":[{"name":"far","context":{"cluster":"far","user":"machines"}}],
		"clusters":[{"name":"far","cluster":{"server":"https://%s:7443","certificate-authority-data":%q}}],"users":[{"name":"machines","user":{"token":%q}}]}`,
		farAPI, base64.StdEncoding.EncodeToString([]byte(ca)), token)
}

// order orders the shoot, with credentials of its own.
func (w *world) order(t *testing.T, far *seed) {
	t.Helper()
	secret, err := json.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "Secret", "metadata": map[string]string{"namespace": namespace, "name": farName},
		"stringData": map[string]string{"kubeconfig": far.kubeconfig(t)},
	})
	if err != nil {
		t.Fatal(err)
	}
	binding, err := os.ReadFile(filepath.Join(w.root, "packaging/examples/credentialsbinding.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	w.mustWith(t, string(secret), w.garden("create", "-f", "-")...)
	named := strings.NewReplacer("  name: local\n  namespace", "  name: "+farName+"\n  namespace").Replace(string(binding))
	w.mustWith(t, named, w.garden("create", "-f", "-")...)
	manifest := w.shootManifest(t, "name: "+shootName, "name: "+farName, "credentialsBindingName: local", "credentialsBindingName: "+farName)
	w.mustWith(t, manifest, w.garden("create", "-f", "-")...)
}

// signIn writes the kubeconfig of an administrator of a shoot to where commands find it.
func (w *world) signIn(t *testing.T, name string) {
	t.Helper()
	request := `{"apiVersion":"authentication.gardener.cloud/v1alpha1","kind":"AdminKubeconfigRequest","spec":{"expirationSeconds":86400}}`
	path := "/apis/core.gardener.cloud/v1beta1/namespaces/" + namespace + "/shoots/" + name + "/adminkubeconfig"
	var answer struct {
		Status struct {
			Kubeconfig []byte `json:"kubeconfig"`
		} `json:"status"`
	}
	if err := json.Unmarshal([]byte(w.mustWith(t, request, w.garden("create", "--raw", path, "-f", "-")...)), &answer); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(w.state, name+".kubeconfig")
	if err := os.WriteFile(file, answer.Status.Kubeconfig, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.Remove(file); err != nil {
			t.Error(err)
		}
	})
}
