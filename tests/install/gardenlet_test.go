// SPDX-License-Identifier: Apache-2.0

package install

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

const (
	gardenlet     = "terrarium-gardenlet.service"
	gardenAddress = "10.77.0.1"
	seedAddress   = "10.77.0.2"
	seedEndpoint  = "https://127.0.0.1:6444"
	// seedKubeconfig is where the gardenlet has the access to its seed.
	seedKubeconfig = "/etc/terrarium/seed.kubeconfig"
	seedCA         = "/var/lib/seed/pki/apiserver.crt"
	joinedConfig   = "/root/joined.yaml"
)

var cluster = flag.String("cluster", "", "program with the components of a Kubernetes cluster (seedling)")

// TestGardenletService joins the API server of a second machine to the garden of the first one, and makes its gardenlet a service.
//
//nolint:paralleltest // The steps build on each other.
func TestGardenletService(t *testing.T) {
	requirements(t)
	if *cluster == "" {
		t.Skip(`"make test-install" builds the components of the seed for this test`)
	}
	garden, seed := start(t, "garden", server), start(t, "seed", gardenlet)
	for _, m := range []*machine{garden, seed} {
		m.run("dpkg", "--install", deb(t, *packages))
	}
	connect(t, garden, seed)
	for _, step := range []struct {
		name string
		do   func(t *testing.T, garden, seed *machine)
	}{
		{"Garden", startGarden},
		{"Seed", startSeed},
		{"Join", joinSeed},
		{"Service", startGardenlet},
		{"Killed", gardenletKilled},
	} {
		if !t.Run(step.name, func(t *testing.T) {
			began := time.Now()
			garden.t, seed.t = t, t
			step.do(t, garden, seed)
			t.Logf("took %s", time.Since(began).Round(time.Second/10))
		}) {
			return
		}
	}
}

// connect puts a cable between two machines.
func connect(t *testing.T, a, b *machine) {
	t.Helper()
	cable := &netlink.Veth{
		LinkAttrs: netlink.LinkAttrs{Name: "cable", Namespace: netlink.NsPid(a.leader)},
		PeerName:  "cable", PeerNamespace: netlink.NsPid(b.leader),
	}
	if err := netlink.LinkAdd(cable); err != nil {
		t.Fatalf("connect the machines: %v", err)
	}
	for m, address := range map[*machine]string{a: gardenAddress, b: seedAddress} {
		m.run("ip", "address", "add", address+"/24", "dev", "cable")
		m.run("ip", "link", "set", "cable", "up")
	}
}

func startGarden(t *testing.T, garden, _ *machine) { //nolint:thelper // A part of the test, with the lines where it fails.
	garden.write(configFile+".d/10-address.yaml", 0o644, "apiVersion: server.config.terrarium.garden/v1alpha1\nkind: ServerConfiguration\nexternalAddresses: ["+gardenAddress+"]\n")
	garden.run("systemctl", "enable", "--now", server)
	if err := garden.ready(); err != nil {
		t.Fatal(err)
	}
}

// write writes a file of the machine.
func (m *machine) write(path string, mode os.FileMode, content string) {
	m.t.Helper()
	if err := os.MkdirAll(filepath.Dir(m.path(path)), 0o755); err != nil {
		m.t.Fatal(err)
	}
	if err := os.WriteFile(m.path(path), []byte(content), mode); err != nil {
		m.t.Fatal(err)
	}
}

// startSeed starts an API server with its store on the second machine: all of a cluster that a gardenlet needs in order to join. Nobody
// runs pods there.
func startSeed(t *testing.T, _, seed *machine) { //nolint:thelper // A part of the test, with the lines where it fails.
	if out, err := exec.CommandContext(t.Context(), "cp", *cluster, seed.path("/usr/local/bin/seedling")).CombinedOutput(); err != nil {
		t.Fatalf("copy the components: %v\n%s", err, out)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	token := rand.Text()
	seed.write("/etc/seed/accounts.key", 0o600, string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der})))
	seed.write("/etc/seed/tokens.csv", 0o600, token+`,admin,admin,"system:masters"`+"\n")
	const client, peer = "http://127.0.0.1:2379", "http://127.0.0.1:2380"
	seed.unit("seed-etcd", "etcd --name=seed --data-dir=/var/lib/seed/etcd --listen-client-urls="+client+" --advertise-client-urls="+client+
		" --listen-peer-urls="+peer+" --initial-advertise-peer-urls="+peer+" --initial-cluster=seed="+peer)
	seed.unit("seed-api", "kube-apiserver --etcd-servers="+client+" --bind-address=127.0.0.1 --secure-port=6444 --advertise-address="+seedAddress+
		" --service-cluster-ip-range=10.97.0.0/16 --service-account-issuer=https://seed --service-account-signing-key-file=/etc/seed/accounts.key"+
		" --service-account-key-file=/etc/seed/accounts.key --authorization-mode=RBAC --token-auth-file=/etc/seed/tokens.csv --cert-dir="+filepath.Dir(seedCA))
	seed.run("systemctl", "start", "seed-etcd", "seed-api")
	seed.wait("the API server of the seed", func() error {
		ca, err := os.ReadFile(seed.path(seedCA))
		if err != nil {
			return err
		}
		config := clientcmdapi.NewConfig()
		config.Clusters["seed"] = &clientcmdapi.Cluster{Server: seedEndpoint, CertificateAuthorityData: ca}
		config.AuthInfos["admin"] = &clientcmdapi.AuthInfo{Token: token}
		config.Contexts["seed"] = &clientcmdapi.Context{Cluster: "seed", AuthInfo: "admin"}
		config.CurrentContext = "seed"
		content, err := clientcmd.Write(*config)
		if err != nil {
			return err
		}
		seed.write(seedKubeconfig, 0o640, string(content))
		client, err := seed.seedClient()
		if err != nil {
			return err
		}
		return client.CoreV1().RESTClient().Get().AbsPath("/readyz").Do(t.Context()).Error()
	})
	seed.run("chgrp", "terrarium-gardenlet", seedKubeconfig)
}

// unit makes a component of the seed a service.
func (m *machine) unit(name, command string) {
	m.t.Helper()
	m.write("/etc/systemd/system/"+name+".service", 0o644, "[Service]\nStateDirectory=seed\nExecStart=/usr/local/bin/seedling "+command+"\nRestart=always\n")
	m.run("systemctl", "daemon-reload")
}

// seedClient returns an administrator's client of the API server on the machine.
func (m *machine) seedClient() (kubernetes.Interface, error) {
	config, err := clientcmd.BuildConfigFromFlags("", m.path(seedKubeconfig))
	if err != nil {
		return nil, err
	}
	config.Dial, config.Timeout = m.dial, 5*time.Second
	return kubernetes.NewForConfig(config)
}

// joinSeed runs the command that docs/install.md names, and interrupts it when the gardenlet has its certificate and works.
func joinSeed(t *testing.T, garden, seed *machine) { //nolint:thelper // A part of the test, with the lines where it fails.
	example, err := os.ReadFile("../../packaging/examples/gardenlet.yaml")
	if err != nil {
		t.Fatal(err)
	}
	domain, err := os.ReadFile("../../packaging/examples/internal-domain.yaml")
	if err != nil {
		t.Fatal(err)
	}
	garden.write("/root/domain.yaml", 0o600, string(domain))
	if out, err := exec.CommandContext(t.Context(), "cp", *cluster, garden.path("/usr/local/bin/seedling")).CombinedOutput(); err != nil {
		t.Fatalf("copy kubectl: %v\n%s", err, out)
	}
	garden.run("/usr/local/bin/seedling", "kubectl", "--kubeconfig", dataDir+"/admin.kubeconfig", "apply", "--server-side", "-f", "/root/domain.yaml")
	seed.write("/root/token", 0o600, garden.run("terrarium", "token", "create", "--seed", "local", "--print", "token"))
	seed.write("/root/gardenlet.yaml", 0o600, string(example))
	var output bytes.Buffer
	join := exec.CommandContext(t.Context(), "nsenter", "--target", strconv.Itoa(seed.leader), "--all", "--",
		"/usr/bin/terrarium", "gardenlet", "join", "https://"+gardenAddress+":6443", "--token-file", "/root/token", "--config", "/root/gardenlet.yaml",
		"--seed-kubeconfig", seedKubeconfig, "--mode", "process", "--write-config", joinedConfig)
	join.Stdout, join.Stderr = &output, &output
	if err := join.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- join.Wait() }()
	seed.wait("a heartbeat of the gardenlet", func() error {
		select {
		case err := <-ended:
			t.Fatalf("the join ended: %v\n%s", err, output.String())
		default:
		}
		_, err := garden.heartbeat()
		return err
	})
	// The interrupt has to reach the program, which is a child of the one that has entered the machine.
	children, err := os.ReadFile(fmt.Sprintf("/proc/%[1]d/task/%[1]d/children", join.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	child, err := strconv.Atoi(strings.TrimSpace(string(children)))
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Kill(child, unix.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Logf("the interrupted join: %v", err)
	}
}

// heartbeat returns when the gardenlet renewed its lease.
func (m *machine) heartbeat() (time.Time, error) {
	client, err := m.client()
	if err != nil {
		return time.Time{}, err
	}
	lease, err := client.CoordinationV1().Leases("gardener-system-seed-lease").Get(m.t.Context(), "local", metav1.GetOptions{})
	if err != nil {
		return time.Time{}, err
	}
	if lease.Spec.RenewTime == nil {
		return time.Time{}, errors.New("never renewed")
	}
	return lease.Spec.RenewTime.Time, nil
}

// beats waits for a heartbeat after a moment.
func (m *machine) beats(after time.Time) {
	m.t.Helper()
	m.wait("a heartbeat", func() error {
		if at, err := m.heartbeat(); err != nil || !at.After(after) {
			return fmt.Errorf("the last one was at %s: %w", at, errors.Join(err, errors.New("too old")))
		}
		return nil
	})
}

func startGardenlet(t *testing.T, garden, seed *machine) { //nolint:thelper // A part of the test, with the lines where it fails.
	before, err := garden.heartbeat()
	if err != nil {
		t.Fatal(err)
	}
	seed.run("terrarium", "install", "gardenlet", "--config", joinedConfig, "--start")
	if got := seed.property("ActiveState"); got != "active" {
		t.Fatalf("the service is %s", got)
	}
	garden.beats(before)
	if got := strings.TrimSpace(seed.run("stat", "--format=%a %U:%G", "/etc/terrarium/gardenlet.yaml")); got != "640 root:terrarium-gardenlet" {
		t.Errorf("the configuration is for the service alone; it is %s", got)
	}
	hardened(t, seed)
	client, err := seed.seedClient()
	if err != nil {
		t.Fatal(err)
	}
	seed.wait("work of the service in its seed", func() error {
		_, err := client.AppsV1().Deployments("garden").Get(t.Context(), "gardener-resource-manager", metav1.GetOptions{})
		return err
	})
	if _, err := client.AppsV1().Deployments("garden").Get(t.Context(), "gardenlet", metav1.GetOptions{}); err == nil {
		t.Error("there is one gardenlet, and it is no Deployment")
	}
}

func gardenletKilled(t *testing.T, garden, seed *machine) { //nolint:thelper // A part of the test, with the lines where it fails.
	before := seed.property("MainPID")
	seed.run("systemctl", "kill", "--kill-whom=main", "--signal=KILL", gardenlet)
	killed := time.Now()
	seed.wait("another process", func() error {
		if pid := seed.property("MainPID"); pid == before || pid == "0" || seed.property("ActiveState") != "active" {
			return fmt.Errorf("process %s", pid)
		}
		return nil
	})
	garden.beats(killed)
	t.Logf("a heartbeat %s after the kill", time.Since(killed).Round(time.Second/10))
}
