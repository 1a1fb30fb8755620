// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// seed is a seedling in a network namespace and folders of its own: it shares the machine with any other.
type seed struct {
	*world

	namespace, stateDir, images, resolvConf string
}

// newSeed makes the network namespace and a folder with the two smallest images.
func newSeed(t *testing.T) *seed {
	t.Helper()
	w := newWorld(t)
	s := &seed{world: w, namespace: fmt.Sprintf("seedling-e2e-%d", os.Getpid()), images: t.TempDir()}
	s.stateDir = filepath.Join("/var/lib", s.namespace)
	s.resolvConf = write(t, "resolv.conf", "nameserver 127.0.0.1\n")
	for _, image := range []string{"pause.tar", "hello.tar"} {
		if err := os.Symlink(filepath.Join(w.root, ".build/images", image), filepath.Join(s.images, image)); err != nil {
			t.Fatal(err)
		}
	}
	w.must(t, "ip", "netns", "add", s.namespace)
	w.must(t, s.inside("ip", "link", "set", "lo", "up")...)
	w.must(t, s.inside("sysctl", "-w", "net.ipv4.ip_forward=0")...)
	t.Cleanup(func() {
		script := strings.Join(s.down(), " ") + "; ip netns del " + s.namespace
		if t.Failed() {
			script = fmt.Sprintf("cp -r %s/logs %s/.build/e2e-logs-seedling; %s", s.stateDir, s.root, script)
		}
		if out, err := exec.CommandContext(context.Background(), "sh", "-c", script).CombinedOutput(); err != nil {
			t.Errorf("clean up: %v\n%s", err, out)
		}
	})
	return s
}

// inside makes a command run in the network of the seed.
func (s *seed) inside(command ...string) []string {
	return append([]string{"nsenter", "--net=/run/netns/" + s.namespace}, command...)
}

func (s *seed) do(command string, args ...string) []string {
	return append(s.inside(s.seedling(command, "--state-dir", s.stateDir)...), args...)
}

func (s *seed) up() []string { return s.do("up", "--images", s.images, "--resolv-conf", s.resolvConf) }

func (s *seed) down(args ...string) []string { return s.do("down", args...) }

func (s *seed) kube(args ...string) []string {
	return append(s.inside(s.seedling("kubectl", "--kubeconfig", filepath.Join(s.stateDir, "kubeconfig"))...), args...)
}

// hello is the program of the image as this machine has it: called with a URL it prints what answers there.
func (s *seed) hello() string { return filepath.Join(s.root, ".build/programs/hello") }

// traces lists everything on the machine that a seed could have left there.
func (s *seed) traces(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{"processes": s.processes(t)}
	for what, look := range map[string]string{
		"mounts":    `grep -F "$0" /proc/self/mounts || true`,
		"cgroups":   `find /sys/fs/cgroup -type d -name "$(basename "$0")*" -prune`,
		"files":     `ls -d "$0" "/run/$(basename "$0")"* /var/lib/cni/results/"$(basename "$0")"-* 2>/dev/null || true`,
		"links":     `find /var/log/containers -lname "$0/*" 2>/dev/null || true`,
		"addresses": `ip -o address | awk '{print $2, $3, $4}'`, // not whether the kernel still tries them out
		"routes":    `ip route show table all | grep -v cache || true`,
		"devices":   `ip -o link | sed 's/ state .*//'`,
		"firewall":  `nft list ruleset`,
		"settings":  `sysctl net.ipv4.ip_forward vm.overcommit_memory vm.panic_on_oom kernel.panic kernel.panic_on_oops kernel.keys.root_maxkeys fs.inotify.max_user_instances`,
	} {
		found[what] = s.must(t, s.inside("sh", "-c", look, s.stateDir)...)
	}
	return found
}

// processes lists those that name the seed's folder in their command or their environment.
func (s *seed) processes(t *testing.T) string {
	t.Helper()
	var found []string
	for _, pattern := range []string{"/proc/[0-9]*/cmdline", "/proc/[0-9]*/environ"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if content, err := os.ReadFile(file); err == nil && strings.Contains(string(content), s.stateDir) {
				found = append(found, file+": "+strings.ReplaceAll(string(content), "\x00", " "))
			}
		}
	}
	return strings.Join(found, "\n")
}

// pid is what the seedling notes of one of its processes.
func (s *seed) pid(t *testing.T, part string) int {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(s.stateDir, "processes", part+".pid"))
	if err != nil {
		t.Fatal(err)
	}
	var record struct{ PID int }
	if err := json.Unmarshal(raw, &record); err != nil {
		t.Fatal(err)
	}
	return record.PID
}

func (s *seed) kill(t *testing.T, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if err := syscall.Kill(s.pid(t, part), syscall.SIGKILL); err != nil {
			t.Fatalf("kill %s: %v", part, err)
		}
	}
}

// TestSeedling brings a seed up, uses it, hurts it, and takes it down.
//
//nolint:paralleltest // the chapters build on one another
func TestSeedling(t *testing.T) {
	s := newSeed(t)
	before := s.traces(t)
	for _, c := range []struct {
		name string
		tell func(*testing.T, *seed)
	}{
		{"a taken port is named before anything is made", takenPort},
		{"a part that fails tells why", failingPart},
		{"killed on the way up it can be taken down", killedOnTheWay},
		{"up brings a node to life", seedUp},
		{"pods, Services and volumes work", seedWorkload},
		{"pods resolve Services and outside names", seedNames},
		{"network policies are enforced", seedPolicies},
		{"from another network it is left alone", seedElsewhere},
		{"what dies is started again", seedHeals},
		{"archives are loaded once", seedLoads},
		{"what is released is removed", seedReleases},
		{"images can be kept", seedKeepsImages},
		{"down works without any of the parts alive", seedDownAfterDeath},
	} {
		if !t.Run(c.name, func(t *testing.T) { c.tell(t, s) }) {
			t.Fatalf("the story ends at %q; what comes after builds on it", c.name)
		}
	}
	if diff := cmp.Diff(before, s.traces(t)); diff != "" {
		t.Errorf("Nothing is left of the seed (-before +after):\n%s", diff)
	}
	sockets, err := filepath.Glob("/run/containerd/s/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, socket := range sockets {
		connection, err := (&net.Dialer{}).DialContext(t.Context(), "unix", socket)
		if err != nil {
			t.Errorf("A socket of a shim is left: %v", err)
			continue
		}
		_ = connection.Close()
	}
	if said := s.must(t, s.down()...); !strings.Contains(said, "nothing to remove") {
		t.Errorf("A second down has nothing to do, and says so:\n%s", said)
	}
}

func takenPort(t *testing.T, s *seed) {
	t.Helper()
	holder := exec.CommandContext(t.Context(), "nsenter", append(s.inside()[1:], s.seedling("kubectl", "--server=https://127.0.0.1:1", "--token=none", "proxy", "--port=7257")...)...)
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = holder.Process.Kill(); _ = holder.Wait() }()
	s.says(t, 10*time.Second, ":7257", s.inside("ss", "-ltn")...)
	r := s.try(t, "", s.up()...)
	if want := "the port 7257 for kube-controller-manager, which another program uses"; r.code == 0 || !strings.Contains(r.stderr, want) {
		t.Errorf("The part and its port are named; up ended with %d:\n%s", r.code, r.all())
	}
	if _, err := os.Stat(s.stateDir); err == nil {
		t.Errorf("Nothing is made when it cannot work; %s is there", s.stateDir)
	}
}

func failingPart(t *testing.T, s *seed) {
	t.Helper()
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "containerd"), []byte("#!/bin/sh\necho the disk is on fire >&2\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	r := s.try(t, "", append([]string{"env", "PATH=" + bin + ":" + os.Getenv("PATH")}, s.up()...)...)
	for _, want := range []string{"containerd: it has ended", "the disk is on fire", filepath.Join(s.stateDir, "logs", "containerd.log")} {
		if r.code == 0 || !strings.Contains(r.stderr, want) {
			t.Errorf("up says which part failed and what it said last; %q is not in:\n%s", want, r.all())
		}
	}
	if strings.Count(r.stderr, "Last lines of its log") != 1 {
		t.Errorf("Parts that were only stopped by the failure of another are not blamed:\n%s", r.stderr)
	}
	s.must(t, s.down()...)
	for _, what := range []string{"processes", "files", "firewall"} {
		if left := s.traces(t)[what]; left != "" {
			t.Errorf("down left %s:\n%s", what, left)
		}
	}
}

func killedOnTheWay(t *testing.T, s *seed) {
	t.Helper()
	half := exec.CommandContext(t.Context(), "nsenter", s.up()[1:]...)
	if err := half.Start(); err != nil {
		t.Fatal(err)
	}
	s.eventually(t, 20*time.Second, "the API server is started", func() (bool, string) {
		_, err := os.Stat(filepath.Join(s.stateDir, "processes", "kube-apiserver.pid"))
		return err == nil, fmt.Sprint(err)
	})
	if err := half.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = half.Wait()
	s.must(t, s.down()...)
	for _, what := range []string{"processes", "mounts", "cgroups", "files", "firewall"} {
		if left := s.traces(t)[what]; left != "" {
			t.Errorf("down left %s:\n%s", what, left)
		}
	}
}

func seedUp(t *testing.T, s *seed) {
	t.Helper()
	began := time.Now()
	said := s.must(t, s.up()...)
	t.Logf("up took %s\n%s", time.Since(began), said)
	again := s.must(t, s.up()...)
	if got := strings.Count(again, "runs already"); got != 9 {
		t.Errorf("A second up leaves all nine parts alone:\n%s", again)
	}
	var status struct {
		Parts []struct {
			Name    string
			Healthy bool
		}
		Node struct{ Ready bool }
	}
	if err := json.Unmarshal([]byte(s.must(t, s.do("status", "--output", "json")...)), &status); err != nil {
		t.Fatal(err)
	}
	for _, part := range status.Parts {
		if !part.Healthy {
			t.Errorf("part %q is not healthy", part.Name)
		}
	}
	if len(status.Parts) != 9 || !status.Node.Ready {
		t.Errorf("status = %+v", status)
	}
	info, err := os.Stat(filepath.Join(s.stateDir, "kubeconfig"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("Only root reads the admin kubeconfig: %v, %v", info.Mode(), err)
	}
}

const seedObjects = `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: hello}
spec:
  selector: {matchLabels: {app: hello}}
  template:
    metadata: {labels: {app: hello}}
    spec:
      containers:
      - {name: hello, image: "terrarium.garden/hello:v1", volumeMounts: [{name: data, mountPath: /data}]}
      volumes:
      - {name: data, persistentVolumeClaim: {claimName: data}}
---
apiVersion: v1
kind: Service
metadata: {name: hello}
spec: {type: LoadBalancer, selector: {app: hello}, ports: [{port: 80, targetPort: 8080}]}
`

func seedWorkload(t *testing.T, s *seed) {
	t.Helper()
	s.mustWith(t, seedObjects, s.kube("apply", "-f", "-")...)
	s.must(t, s.kube("wait", "--for=condition=Available", "--timeout=60s", "deployment/hello")...)
	s.says(t, 10*time.Second, "Bound", s.kube("get", "pvc", "data", "-o", "jsonpath={.status.phase}")...)
	clusterIP := s.must(t, s.kube("get", "service", "hello", "-o", "jsonpath={.spec.clusterIP}")...)
	loadBalancer := s.must(t, s.kube("get", "service", "hello", "-o", "jsonpath={.status.loadBalancer.ingress[0].ip}")...)
	if !strings.HasPrefix(loadBalancer, "10.99.1.") {
		t.Errorf("A load balancer gets an address of the range; got %q", loadBalancer)
	}
	for what, address := range map[string]string{"Service": clusterIP, "load balancer": loadBalancer} {
		s.says(t, 20*time.Second, "Hello from hello-", s.inside(s.hello(), "http://"+address)...)
		// A pod that asks its own Service is answered by itself or by its neighbour on the bridge.
		s.says(t, 20*time.Second, "Hello from hello-", s.kube("exec", "deployment/hello", "--", "/usr/local/bin/hello", "http://"+address)...)
		t.Logf("the %s %s answers the machine and pods", what, address)
	}
}

// seedNames has a pod look up names. The name server of the machine listens on its loopback address alone, as that of
// systemd-resolved does.
func seedNames(t *testing.T, s *seed) {
	t.Helper()
	corefile := write(t, "Corefile", `.:53 {
    bind 127.0.0.1
    template IN A outer.test {
        answer "{{ .Name }} 60 IN A 10.99.1.1"
    }
}
`)
	outside := exec.CommandContext(t.Context(), "nsenter", append(s.inside()[1:], s.seedling("coredns", "-conf", corefile)...)...)
	if err := outside.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = outside.Process.Kill(); _ = outside.Wait() }()
	for _, name := range []string{"hello", "hello.default.svc.cluster.local", "outer.test"} {
		s.says(t, 20*time.Second, "Hello from hello-", s.kube("exec", "deployment/hello", "--", "/usr/local/bin/hello", "http://"+name)...)
	}
	for pod, policy := range map[string]string{"cluster": "ClusterFirst", "node": "Default"} {
		s.mustWith(t, fmt.Sprintf(seedLookup, pod, policy), s.kube("apply", "-f", "-")...)
		s.says(t, 20*time.Second, "Succeeded", s.kube("get", "pod", "lookup-"+pod, "-o", "jsonpath={.status.phase}")...)
	}
	s.must(t, s.kube("delete", "pod", "lookup-cluster", "lookup-node", "--now")...)
}

// seedLookup is a pod that ends well if an outside name leads it to the Service.
const seedLookup = `
apiVersion: v1
kind: Pod
metadata: {name: lookup-%s}
spec:
  dnsPolicy: %s
  restartPolicy: OnFailure
  containers:
  - {name: hello, image: "terrarium.garden/hello:v1", args: ["http://outer.test"]}
`

// seedPolicies restricts the pod and loosens it again. What refuses a connection does so with an answer, so nothing has to time out.
func seedPolicies(t *testing.T, s *seed) {
	t.Helper()
	ask := func(url string) []string {
		return s.kube("exec", "deployment/hello", "--", "/usr/local/bin/hello", url)
	}
	server := s.must(t, s.kube("get", "endpoints", "kubernetes", "-o", "jsonpath={.subsets[0].addresses[0].ip}:{.subsets[0].ports[0].port}")...)
	// The API server refuses what is not encrypted: then it was reached.
	reaches := func(want string) {
		t.Helper()
		s.eventually(t, 20*time.Second, "from the pod to the API server: "+want, func() (bool, string) {
			r := s.try(t, "", ask("http://"+strings.TrimSpace(server))...)
			return strings.Contains(r.all(), want), r.all()
		})
	}
	const connected, refused = "400 Bad Request", "no route to host"
	reaches(connected)
	// The DNS server is a process of the node.
	port := s.must(t, s.kube("-n", "kube-system", "get", "endpointslice", "kube-dns", "-o", "jsonpath={.ports[0].port}")...)
	host, _, _ := strings.Cut(strings.TrimSpace(server), ":")
	s.mustWith(t, fmt.Sprintf(seedPolicy, host, strings.TrimSpace(port)), s.kube("apply", "-f", "-")...)
	reaches(refused)
	s.mustWith(t, seedStranger, s.kube("apply", "-f", "-")...)
	s.says(t, 20*time.Second, refused, s.kube("logs", "stranger")...)
	s.must(t, s.kube("delete", "pod", "stranger", "--now")...)
	// The pod may ask its Service by its name, and the machine may ask the pod.
	s.says(t, 20*time.Second, "Hello from hello-", ask("http://hello")...)
	address := s.must(t, s.kube("get", "pod", "-l", "app=hello", "-o", "jsonpath={.items[0].status.podIP}")...)
	s.says(t, 20*time.Second, "Hello from hello-", s.inside(s.hello(), "http://"+address+":8080")...)
	s.must(t, s.kube("delete", "networkpolicy", "alone")...)
	reaches(connected)
}

const seedStranger = `
apiVersion: v1
kind: Pod
metadata: {name: stranger}
spec:
  restartPolicy: Never
  containers:
  - {name: hello, image: "terrarium.garden/hello:v1", args: ["http://hello"]}
`

const seedPolicy = `
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: alone}
spec:
  podSelector: {matchLabels: {app: hello}}
  policyTypes: [Ingress, Egress]
  egress:
  - to: [{ipBlock: {cidr: %s/32}}]
    ports: [{protocol: UDP, port: %s}]
`

func write(t *testing.T, name, content string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func seedElsewhere(t *testing.T, s *seed) {
	t.Helper()
	before := s.traces(t)
	for _, command := range [][]string{s.down(), s.up()} {
		r := s.try(t, "", command[len(s.inside()):]...)
		if want := "nsenter --net=/proc/"; r.code == 0 || !strings.Contains(r.stderr, want) {
			t.Errorf("Outside of its network a command could only hit others; %q is not in:\n%s", want, r.all())
		}
	}
	after := s.traces(t)
	for _, what := range []string{"processes", "addresses", "devices", "files"} {
		if diff := cmp.Diff(before[what], after[what]); diff != "" {
			t.Errorf("A refused command changes no %s (-before +after):\n%s", what, diff)
		}
	}
}

func seedHeals(t *testing.T, s *seed) {
	t.Helper()
	uid := s.must(t, s.kube("get", "pod", "-l", "app=hello", "-o", "jsonpath={.items[*].metadata.uid}")...)
	s.kill(t, "kube-apiserver", "kubelet", "addons", "containerd")
	s.eventually(t, 5*time.Second, "status tells of the dead", func() (bool, string) {
		r := s.try(t, "", s.do("status")...)
		return r.code != 0 && strings.Contains(r.stdout, "does not run"), r.all()
	})
	said := s.must(t, s.up()...)
	if got := strings.Count(said, "runs already"); got != 5 {
		t.Errorf("What lived goes on, what died is started again:\n%s", said)
	}
	if got := s.must(t, s.kube("get", "pod", "-l", "app=hello", "-o", "jsonpath={.items[*].metadata.uid}")...); got != uid {
		t.Errorf("The pods live through it: %q before, %q after", uid, got)
	}
	s.says(t, 20*time.Second, "Hello from hello-", s.inside(s.hello(), "http://10.99.1.1")...)
}

func seedLoads(t *testing.T, s *seed) {
	t.Helper()
	archive := filepath.Join(s.root, ".build/images/seedling.tar")
	for _, want := range []string{"1 of 1 archives were new", "0 of 1 archives were new"} {
		if said := s.must(t, s.do("load", archive)...); !strings.Contains(said, want) {
			t.Errorf("load says %q, want %q", said, want)
		}
	}
	if _, err := os.Stat(filepath.Join(s.stateDir, "images", "seedling.tar")); err != nil {
		t.Errorf("Machines of shoots find the archive on the node: %v", err)
	}
	r := s.try(t, "", s.do("load", filepath.Join(s.root, "go.mod"))...)
	if r.code == 0 || !strings.Contains(r.stderr, "go.mod") {
		t.Errorf("A file that is no archive is refused by name: %s", r.all())
	}
}

func seedReleases(t *testing.T, s *seed) {
	t.Helper()
	s.must(t, s.kube("delete", "service,deployment,pvc", "--all", "--wait=false")...)
	s.eventually(t, 20*time.Second, "the address is released", func() (bool, string) {
		out := s.must(t, s.inside("ip", "-o", "address")...)
		return !strings.Contains(out, "10.99.1."), out
	})
	s.eventually(t, 60*time.Second, "the volume is removed", func() (bool, string) {
		out := s.must(t, "ls", filepath.Join(s.stateDir, "volumes"))
		return out == "", out
	})
}

func seedKeepsImages(t *testing.T, s *seed) {
	t.Helper()
	s.must(t, s.down("--keep-images")...)
	if said := s.must(t, s.up()...); !strings.Contains(said, "0 imported, 2 were there") {
		t.Errorf("Kept images are not imported again:\n%s", said)
	}
	s.mustWith(t, seedObjects, s.kube("apply", "-f", "-")...)
	s.must(t, s.kube("wait", "--for=condition=Available", "--timeout=60s", "deployment/hello")...)
}

func seedDownAfterDeath(t *testing.T, s *seed) {
	t.Helper()
	s.kill(t, "coredns", "addons", "kube-proxy", "kubelet", "kube-scheduler", "kube-controller-manager", "kube-apiserver", "etcd", "containerd")
	t.Log(s.must(t, s.down()...))
}
