// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestStory is one playground from `make up` to `make down`; each chapter builds on the one before.
//
//nolint:paralleltest // one machine holds one playground, and its chapters happen in order
func TestStory(t *testing.T) {
	w := newWorld(t)
	t.Cleanup(func() {
		if t.Failed() {
			w.keepLogs(t)
		}
	})
	chapters := []struct {
		name string
		tell func(*testing.T, *world)
	}{
		{"up brings a shoot to life", up},
		{"up again changes nothing", upAgain},
		{"a shoot without an image is ordered", orderBare},
		{"a workload in the shoot answers", workload},
		{"load balancers lead into the shoot", balanced},
		{"pods of the shoot resolve names", names},
		{"nodes and pods are measured", measured},
		{"system components run where they are meant to", systemPods},
		{"a kubelet gets no certificate for other names", foreignNames},
		{"managed resources reach seed and shoot", managed},
		{"no administrator is left in the control plane", noAdministrators},
		{"nothing leaves a control plane without a label", closedNamespaces},
		{"the etcds of the shoot are defragmented", defragmented},
		{"the API server reaches its nodes through a tunnel", throughTheTunnel},
		{"a bastion leads to the nodes, from where it may", sshThroughBastion},
		{"the shoot tells how it is", conditions},
		{"a node whose kubelet is silent is named", long(silentKubelet)},
		{"settings reach machines that run", long(nodeAgent)},
		{"machines are drained and replaced", long(machines)},
		{"machines are updated in place", long(inPlace)},
		{"a pool grows and shrinks by itself", long(scaling)},
		{"pods are sized by their use", long(sizing)},
		{"the shoot sleeps and wakes up", long(night)},
		{"what the shoot encrypts changes", long(encryption)},
		{"a store is lost for ever", long(lostStore)},
		{"the shoot's credentials are rotated", long(rotation)},
		{"machines run in a cluster that the seed cannot reach", long(apart)},
		{"a patch of Kubernetes rolls the nodes while all requests are answered", long(patched)},
		{"the timeline tells the story", timeline},
		{"secrets stay secret", secrets},
		{"wrong manifests are explained", wrongManifests},
		{"wrong joins are explained", wrongJoins},
		{"a second server is refused", secondServer},
		{"no usable seed is explained", noUsableSeed},
		{"a missing image is explained", missingImage},
		{"the owner's names resolve", ownNames},
		{"killed in the middle the shoot still completes", long(killed)},
		{"the garden's machine is lost and the shoot is not", long(lost)},
		{"a gardenlet runs as a plain process", long(plainProcess)},
		{"nothing is left of shoots that end before their time", long(interruptions)},
		{"what holds up a deletion is in the shoot", obstacles},
		{"deletion needs confirmation and leaves nothing", deletion},
		{"down leaves nothing", down},
		{"up after down works again", long(upAfterDown)},
	}
	for _, c := range chapters {
		if !t.Run(c.name, func(t *testing.T) { c.tell(t, w) }) {
			t.Fatalf("the story ends at %q; what comes after builds on it", c.name)
		}
	}
}

// long is a chapter that the short form leaves out. No other chapter builds on it.
func long(tell func(*testing.T, *world)) func(*testing.T, *world) {
	return func(t *testing.T, w *world) {
		t.Helper()
		if testing.Short() {
			t.Skip("the long form has this chapter: make test-e2e")
		}
		tell(t, w)
	}
}

// keepLogs copies what explains a failure to where a developer finds it.
func (w *world) keepLogs(t *testing.T) {
	t.Helper()
	dir := filepath.Join(w.root, ".build", "e2e-logs")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Log(err)
		return
	}
	for _, from := range []string{filepath.Join(w.state, "logs"), filepath.Join(w.seedState, "logs")} {
		r := w.try(t, "", "cp", "-r", from, dir)
		if r.code != 0 {
			t.Log(r.all())
		}
	}
	for _, show := range [][]string{
		w.garden("get", "shoots,seeds,controllerinstallations,projects", "-A", "-o", "wide"),
		w.garden("-n", namespace, "get", "shoots", "-o", "jsonpath={range .items[*]}{.metadata.name}: {.status.lastOperation}{.status.lastErrors}{\"\\n\"}{end}"),
		w.seed("get", "pods", "-A", "-o", "wide"),
		w.seed("-n", "garden", "logs", "deployment/gardenlet", "--tail=60"),
	} {
		r := w.try(t, "", show...)
		t.Logf("%s\n%s", strings.Join(show[1:], " "), r.all())
	}
}

func up(t *testing.T, w *world) {
	t.Helper()
	w.must(t, "scripts/playground", "down")
	w.before = w.traces(t)
	out := w.must(t, "scripts/playground", "up")
	t.Log(out)
	for _, want := range []string{"Summary", "shoot sprout", gardenURL, "Worth trying next"} {
		if !strings.Contains(out, want) {
			t.Errorf("the output of up lacks %q", want)
		}
	}
	w.healthy(t, time.Minute, shootName)
	w.says(t, time.Minute, " Ready ", w.shoot("get", "nodes", "--no-headers")...)
	w.says(t, time.Minute, "Ready", w.garden("get", "seed", "local", "--no-headers")...)
	for _, kubeconfig := range []string{"garden", "seed", shootName} {
		info, err := os.Stat(filepath.Join(w.state, kubeconfig+".kubeconfig"))
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("kubeconfig %q has mode %o, others could read it", kubeconfig, info.Mode().Perm())
		}
	}
}

func upAgain(t *testing.T, w *world) {
	t.Helper()
	// running is the process of the garden and the shoot in it.
	type running struct {
		Process int
		Shoot   string
	}
	now := func() running {
		return running{
			Process: w.gardenPID(t),
			Shoot:   w.must(t, w.garden("-n", namespace, "get", "shoot", shootName, "-o", "jsonpath={.metadata.uid}")...),
		}
	}
	before := now()
	w.must(t, "scripts/playground", "up")
	if diff := cmp.Diff(before, now()); diff != "" {
		t.Errorf("up restarted a garden that ran, or made the shoot anew (-want +got):\n%s", diff)
	}
}

func workload(t *testing.T, w *world) {
	t.Helper()
	w.must(t, w.shoot("apply", "-f", "packaging/examples/hello.yaml")...)
	w.must(t, w.shoot("rollout", "status", "deployment/hello", "--timeout=90s")...)
	node := w.must(t, w.shoot("get", "nodes", "-o", "jsonpath={.items[0].metadata.name}")...)
	on := w.must(t, w.shoot("get", "pods", "-l", "app=hello", "-o", "jsonpath={.items[0].spec.nodeName}")...)
	if on != node {
		t.Errorf("the pod runs on %q, want the shoot's machine %q", on, node)
	}
	// A program in the pod asks the Service: API server, kubelet, pod network and kube-proxy all take part.
	address := w.must(t, w.shoot("get", "service", "hello", "-o", "jsonpath={.spec.clusterIP}")...)
	w.says(t, time.Minute, "Hello from hello-", w.shoot("exec", "deployment/hello", "--", "hello", "http://"+address)...)
	w.must(t, w.shoot("logs", "deployment/hello")...)
}

// names has a pod look up Services, as a whole name and as short ones, and a name that only the DNS server of the seed knows:
// the shoot's server has to ask the one of its node for it. It adds a name of the owner's, which a later chapter looks up.
func names(t *testing.T, w *world) {
	t.Helper()
	w.must(t, w.shoot("-n", "kube-system", "rollout", "status", "deployment/coredns", "--timeout=90s")...)
	own := `{"data":{"own.override":"hosts {\n192.0.2.8 own.test\nfallthrough\n}\n"}}`
	w.must(t, w.shoot("-n", "kube-system", "patch", "configmap", "coredns-custom", "--patch", own)...)
	for name, want := range map[string]string{
		"kubernetes.default.svc":               "10.101.0.1\n",
		"kubernetes.default.svc.cluster.local": "10.101.0.1\n",
		"kube-dns.kube-system":                 "10.101.0.10\n",
		"host.seedling.internal":               "10.99.0.1\n",
	} {
		w.says(t, time.Minute, want, w.shoot("exec", "deployment/hello", "--", "hello", name)...)
	}
	w.says(t, time.Minute, "Hello from hello-", w.shoot("exec", "deployment/hello", "--", "hello", "http://hello")...)
	records(t, w)
}

// ownNames looks up what the owner added to the configuration some chapters ago: the kubelet and the DNS server look for changed
// files only now and then, which takes a minute or two.
func ownNames(t *testing.T, w *world) {
	t.Helper()
	w.says(t, 3*time.Minute, "192.0.2.8\n", w.shoot("exec", "deployment/hello", "--", "hello", "own.test")...)
}

func conditions(t *testing.T, w *world) {
	t.Helper()
	for _, condition := range []string{"APIServerAvailable", "ControlPlaneHealthy", "EveryNodeReady"} {
		w.says(t, 90*time.Second, "True", w.garden("-n", namespace, "get", "shoot", shootName, "-o",
			fmt.Sprintf("jsonpath={.status.conditions[?(@.type==%q)].status}", condition))...)
	}
	w.says(t, time.Minute, "True", w.garden("get", "seed", "local", "-o",
		`jsonpath={.status.conditions[?(@.type=="GardenletReady")].status}`)...)
	renewed := w.must(t, w.garden("-n", "gardener-system-seed-lease", "get", "lease", "local", "-o", "jsonpath={.spec.renewTime}")...)
	w.eventually(t, 20*time.Second, "the lease of the seed is renewed", func() (bool, string) {
		now := w.must(t, w.garden("-n", "gardener-system-seed-lease", "get", "lease", "local", "-o", "jsonpath={.spec.renewTime}")...)
		return now != renewed, now
	})
	list := w.must(t, w.garden("get", "shoots", "-n", namespace)...)
	for _, column := range []string{"CLOUDPROFILE", "PROVIDER", "REGION", "K8S VERSION", "HIBERNATION", "LAST OPERATION", "STATUS"} {
		if !strings.Contains(list, column) {
			t.Errorf("the list of shoots lacks the column %q:\n%s", column, list)
		}
	}
}

// timeline reads what the garden remembers of the shoot: who ordered it, what the gardenlet did, and how it ended.
func timeline(t *testing.T, w *world) {
	t.Helper()
	command := w.terrarium("timeline", "shoot", shootName, "-n", namespace, "--kubeconfig", filepath.Join(w.state, "garden.kubeconfig"))
	told := w.must(t, command...)
	for _, words := range []string{
		"Created", "Changed spec.seedName", "Create Processing", "requested by", "Waiting for the API server: done in", "Create Succeeded",
		"EveryNodeReady is True",
	} {
		if !strings.Contains(told, words) {
			t.Errorf("the timeline does not say %q:\n%s", words, told)
		}
	}
}

// secrets looks for what must not be seen: tokens and keys in logs and in the process list, plain Secrets on the disk.
func secrets(t *testing.T, w *world) {
	t.Helper()
	processes := w.must(t, "ps", "axww", "-o", "args")
	logs := w.must(t, "sh", "-c", "cat "+filepath.Join(w.state, "logs")+"/*.log")
	for name, text := range map[string]string{"process list": processes, "logs": logs} {
		for _, secret := range []string{"PRIVATE KEY", "T10"} {
			for line := range strings.Lines(text) {
				if strings.Contains(line, secret) && strings.Contains(line, "::") || strings.Contains(line, "PRIVATE KEY") {
					t.Errorf("the %s shows a secret: %.60q…", name, line)
				}
			}
		}
	}
	w.must(t, w.garden("-n", "garden", "create", "secret", "generic", "probe", "--from-literal=word=chrysanthemum-7341")...)
	hit := w.try(t, "", "grep", "-rlF", "chrysanthemum-7341", filepath.Join(w.state, "garden"))
	if hit.code == 0 {
		t.Errorf("a Secret lies on the disk in plain text: %s", hit.stdout)
	}
	w.must(t, w.garden("-n", "garden", "delete", "secret", "probe")...)
}

func deletion(t *testing.T, w *world) {
	t.Helper()
	r := w.try(t, "", w.garden("-n", namespace, "delete", "shoot", shootName, "--wait=false")...)
	if r.code == 0 || !strings.Contains(r.stderr, "confirmation.gardener.cloud/deletion=true") {
		t.Fatalf("an unconfirmed deletion must be refused with the way to confirm it, got %d\n%s", r.code, r.all())
	}
	inUse := w.try(t, "", w.garden("delete", "seed", "local", "--wait=false")...)
	if inUse.code == 0 || !strings.Contains(inUse.stderr, shootName) {
		t.Fatalf("a seed with shoots must not be deleted, got %d\n%s", inUse.code, inUse.all())
	}
	for name := range strings.FieldsSeq(w.must(t, w.garden("-n", namespace, "get", "shoots", "-o", "jsonpath={.items[*].metadata.name}")...)) {
		w.must(t, w.garden("-n", namespace, "annotate", "shoot", name, "confirmation.gardener.cloud/deletion=true", "--overwrite")...)
		w.must(t, w.garden("-n", namespace, "delete", "shoot", name, "--wait=false")...)
	}
	began := time.Now()
	w.gone(t, 5*time.Minute, w.garden("-n", namespace, "get", "shoot", shootName)...)
	t.Logf("the shoot is gone after %s", time.Since(began).Round(time.Second))
	w.eventually(t, time.Minute, "no namespace of a shoot is left on the seed", func() (bool, string) {
		left := w.must(t, w.seed("get", "namespaces", "-o", "name")...)
		return !strings.Contains(left, "shoot--"), left
	})
	if left := w.must(t, w.seed("-n", "kube-system", "get", "configmap", "local-dns", "-o", "jsonpath={.data}")...); left != "" {
		t.Errorf("the name server still has %s", left)
	}
	w.eventually(t, time.Minute, "no volume of a shoot is left on the seed", func() (bool, string) {
		left := w.must(t, w.seed("get", "persistentvolumes", "-o", "jsonpath={.items[*].spec.claimRef.namespace}")...)
		return !strings.Contains(left, "shoot--"), left
	})
	w.eventually(t, time.Minute, "nothing on the seed is about the shoot", func() (bool, string) {
		left := w.inventory(t, w.seed).mentioning(t, []string{"shoot--meadow--" + shootName})
		return len(left) == 0, fmt.Sprint(left)
	})
	w.must(t, w.garden("annotate", "project", "meadow", "confirmation.gardener.cloud/deletion=true", "--overwrite")...)
	w.must(t, w.garden("-n", namespace, "delete", "credentialsbinding", "--all", "--wait=false")...)
	w.must(t, w.garden("delete", "project", "meadow", "--wait=false")...)
	w.gone(t, 2*time.Minute, w.garden("get", "namespace", namespace)...)
	w.gone(t, time.Minute, w.garden("get", "project", "meadow")...)
	w.must(t, w.garden("delete", "seed", "local", "--wait=false")...)
	w.gone(t, 3*time.Minute, w.garden("get", "seed", "local")...)
	w.must(t, w.garden("delete", "cloudprofile", "local", "--timeout=60s")...)
}

// traces are what a playground leaves on a machine while it is up.
func (w *world) traces(t *testing.T) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	for what, look := range map[string]string{
		// What has ended and waits for the init of the machine to take note of it is nobody's any more.
		"processes":          `ps axww -o stat= -o args= | awk '$1 !~ /^Z[^l]*$/' | sed 's/^\S* *//' | grep -E '^(\S*/(seedling|terrarium) |containerd |\S*containerd-shim)' || true`,
		"mounts":             `grep -E 'seedling|kubelet' /proc/self/mounts || true`,
		"network namespaces": `ip netns list`,
		"interfaces":         `ip -o link | grep -E 'veth|seedling|cni' || true`,
		"addresses":          `ip -o addr | grep -E ' 10\.9[789]\.' || true`,
		"nftables":           `nft list tables | grep -E 'kube|seedling|cni' || true`,
		"files":              `ls -d ` + w.seedState + ` /run/` + filepath.Base(w.seedState) + `* ` + w.state + ` 2>/dev/null || true`,
	} {
		for line := range strings.Lines(w.must(t, "sh", "-c", look)) {
			found[what] = append(found[what], strings.TrimSpace(line))
		}
	}
	return found
}

// down removes everything, and everything is looked for; what was there before the story is somebody else's.
func down(t *testing.T, w *world) {
	t.Helper()
	w.must(t, "scripts/playground", "down")
	for what, lines := range w.traces(t) {
		for _, line := range lines {
			if !slices.Contains(w.before[what], line) {
				t.Errorf("down left among the %s: %s", what, line)
			}
		}
	}
}

func upAfterDown(t *testing.T, w *world) {
	t.Helper()
	w.must(t, "scripts/playground", "up")
	w.healthy(t, time.Minute, shootName)
	w.must(t, "scripts/playground", "down")
}
