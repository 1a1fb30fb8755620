// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/identity"
	"github.com/terrarium-garden/terrarium/appliance/server"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

func TestRestartKeepsObjects(t *testing.T) {
	t.Parallel()

	dir := t.TempDir()
	g := harness.Start(t, harness.WithDataDir(dir))
	before := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "mine"},
		Data:       map[string]string{"key": "value"},
	}
	mustCreate(t, g, before)
	name, ca := g.ClusterIdentity, string(g.CA)
	g.Stop(t)

	g = harness.Start(t, harness.WithDataDir(dir))
	after := &corev1.ConfigMap{}
	if err := g.Client.Get(t.Context(), client.ObjectKeyFromObject(before), after); err != nil {
		t.Fatalf("Objects outlive the process.\nGet(...): %v", err)
	}
	if diff := cmp.Diff(before.Data, after.Data); diff != "" || before.UID != after.UID {
		t.Errorf("Objects outlive the process as they were, UID %q and %q.\ndata (-want +got):\n%s", before.UID, after.UID, diff)
	}
	if g.ClusterIdentity != name || string(g.CA) != ca {
		t.Errorf("A garden is the same one after a restart.\nidentity: got %q, want %q; same CA: %t", g.ClusterIdentity, name, string(g.CA) == ca)
	}
}

func TestStartRefuses(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason  string
		prepare func(t *testing.T, c *gardenconfigv1alpha1.ServerConfiguration)
		is      error
		want    string
		// untouched asks for a data directory in which nothing was made.
		untouched bool
	}{
		"PortTaken": {
			reason: "The port is named, what to do is said, and nothing was written.",
			prepare: func(t *testing.T, c *gardenconfigv1alpha1.ServerConfiguration) {
				t.Helper()
				l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = l.Close() })
				c.Listen = l.Addr().String()
			},
			is:        server.ErrPortTaken,
			want:      "choose another port with --listen",
			untouched: true,
		},
		"NoSuchAddress": {
			reason: "An address of another machine is no reason to make a data directory.",
			prepare: func(t *testing.T, c *gardenconfigv1alpha1.ServerConfiguration) {
				t.Helper()
				c.Listen = "192.0.2.1:6443"
			},
			want:      `listen on "192.0.2.1:6443"`,
			untouched: true,
		},
		"DataDirectoryInUse": {
			reason: "Two processes on one database would destroy it.",
			prepare: func(t *testing.T, c *gardenconfigv1alpha1.ServerConfiguration) {
				t.Helper()
				g := harness.Start(t)
				c.DataDir = g.DataDir
			},
			is:   identity.ErrInUse,
			want: fmt.Sprint(os.Getpid()),
		},
		"DataDirectoryIsFile": {
			reason: "The path is named.",
			prepare: func(t *testing.T, c *gardenconfigv1alpha1.ServerConfiguration) {
				t.Helper()
				c.DataDir = filepath.Join(t.TempDir(), "file")
				if err := os.WriteFile(c.DataDir, nil, 0o600); err != nil {
					t.Fatal(err)
				}
			},
			want: "file",
		},
		"NewerDataDirectory": {
			reason: "An older version must not write to what it does not understand.",
			prepare: func(t *testing.T, c *gardenconfigv1alpha1.ServerConfiguration) {
				t.Helper()
				if err := os.MkdirAll(c.DataDir, 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(c.DataDir, "layout"), []byte("99\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			},
			want: "newer",
		},
		"UnknownController": {
			reason: "A controller that was to be left out would run because of a typing error (GCM-PROC-4).",
			prepare: func(t *testing.T, c *gardenconfigv1alpha1.ServerConfiguration) {
				t.Helper()
				c.Controllers.Disabled = []string{"project-stail"}
			},
			want: `no controller is called "project-stail"; there are: `,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			config := &gardenconfigv1alpha1.ServerConfiguration{}
			config.SetDefaults()
			config.Listen = "127.0.0.1:0"
			config.DataDir = filepath.Join(t.TempDir(), "data")
			tc.prepare(t, config)
			err := server.Run(t.Context(), server.Options{
				Config: config, Log: logr.Discard(), Version: "v0.0.0-test",
				Ready: func(server.Garden) { t.Errorf("%s\nThe garden became ready.", tc.reason) },
			})
			if err == nil || !strings.Contains(err.Error(), tc.want) || (tc.is != nil && !errors.Is(err, tc.is)) {
				t.Errorf("%s\nRun(...): got error %v, want one that is %v and says %q", tc.reason, err, tc.is, tc.want)
			}
			if _, err := os.Stat(config.DataDir); tc.untouched && !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s\nStat(data directory): got %v, want not exist", tc.reason, err)
			}
		})
	}
}

// TestControllersStartAfterTheAPI reads in the log that controllers start when the API server has answered that it is ready and the
// first objects are made through it (GCM-PROC-5).
func TestControllersStartAfterTheAPI(t *testing.T) {
	t.Parallel()
	var (
		mutex sync.Mutex
		units []string
	)
	log := funcr.New(func(_, line string) {
		mutex.Lock()
		defer mutex.Unlock()
		if _, after, found := strings.Cut(line, `"msg"="Unit ready" "unit"="`); found {
			unit, _, _ := strings.Cut(after, `"`)
			units = append(units, unit)
		}
	}, funcr.Options{})
	config := &gardenconfigv1alpha1.ServerConfiguration{}
	config.SetDefaults()
	config.Listen, config.DataDir = "127.0.0.1:0", filepath.Join(t.TempDir(), "data")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	// The first call of Ready ends the garden.
	if err := server.Run(ctx, server.Options{Config: config, Log: log, Version: "v0.0.0-test", Ready: func(server.Garden) { stop() }}); err != nil {
		t.Fatal(err)
	}
	mutex.Lock()
	defer mutex.Unlock()
	var got []string
	for _, unit := range units {
		if unit == "api-server" || unit == "first-objects" || unit == "garden-controllers" {
			got = append(got, unit)
		}
	}
	if diff := cmp.Diff([]string{"api-server", "first-objects", "garden-controllers"}, got); diff != "" {
		t.Errorf("Units in the order in which they became ready, of %v (-want +got):\n%s", units, diff)
	}
}

// TestKilledServerLosesNothing ends a real process the hard way while it is written to.
func TestKilledServerLosesNothing(t *testing.T) {
	t.Parallel()

	const writers, enough = 8, 200
	dir := t.TempDir()
	kill, kubeconfig := startChild(t, dir)
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	config.QPS = -1
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}

	var (
		mutex        sync.Mutex
		acknowledged []string
		reached      = make(chan struct{})
		once         sync.Once
		group        sync.WaitGroup
	)
	for w := range writers {
		group.Go(func() {
			for n := 0; ; n++ {
				name := fmt.Sprintf("write-%d-%d", w, n)
				_, err := kube.CoreV1().ConfigMaps("default").Create(t.Context(),
					&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
				if err != nil {
					return // The process has been killed.
				}
				mutex.Lock()
				acknowledged = append(acknowledged, name)
				if len(acknowledged) >= enough {
					once.Do(func() { close(reached) })
				}
				mutex.Unlock()
			}
		})
	}
	select {
	case <-reached:
	case <-time.After(harness.Patience):
		t.Fatal("The writers do not get anywhere.")
	}
	kill()
	group.Wait()

	g := harness.Start(t, harness.WithDataDir(dir))
	found := &corev1.ConfigMapList{}
	if err := g.Client.List(t.Context(), found, client.InNamespace("default")); err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, m := range found.Items {
		names[m.Name] = true
	}
	for _, name := range acknowledged {
		if !names[name] {
			t.Errorf("A write that was acknowledged survives kill -9, but %q of %d is gone.", name, len(acknowledged))
		}
	}
	t.Logf("%d writes were acknowledged before the kill", len(acknowledged))
}

// TestExternalAddress tries that a garden answers to the names that it is given.
func TestExternalAddress(t *testing.T) {
	t.Parallel()

	g := harness.Start(t, harness.WithConfig(func(c *gardenconfigv1alpha1.ServerConfiguration) {
		c.ExternalAddresses = []string{"garden.example.org", "203.0.113.9"}
	}))
	address := strings.TrimPrefix(g.Server, "https://")
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	if want := "https://garden.example.org:" + port; g.External != want {
		t.Errorf("Clients elsewhere are told the first address: got %q, want %q", g.External, want)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(g.CA)
	for name, valid := range map[string]bool{
		"garden.example.org": true, "203.0.113.9": true, "127.0.0.1": true, "localhost": true, "other.example.org": false,
	} {
		connection, err := (&tls.Dialer{Config: &tls.Config{RootCAs: roots, ServerName: name}}).DialContext(t.Context(), "tcp", address)
		if (err == nil) != valid {
			t.Errorf("The certificate is for the names of the garden and no others.\nDial as %q: got %v, want valid: %t", name, err, valid)
		}
		if err == nil {
			_ = connection.Close()
		}
	}
}

// TestMetrics asks a server that has a process of its own, as metrics are counted for a whole process.
func TestMetrics(t *testing.T) {
	t.Parallel()

	_, kubeconfig := startChild(t, t.TempDir())
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	metrics, err := kube.RESTClient().Get().AbsPath("/metrics").Do(t.Context()).Raw()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"apiserver_request_total", "apiserver_storage_size_bytes", "terrarium_store_commit_seconds", "workqueue_depth"} {
		if !strings.Contains(string(metrics), "\n"+name) {
			t.Errorf("The server and its database are measured.\nGET /metrics: no %s", name)
		}
	}
}

// startChild runs this test binary again, as a server. Once that is ready it returns how to kill it, and its kubeconfig.
func startChild(t *testing.T, dir string) (kill func(), kubeconfig string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	log, err := os.Create(filepath.Join(t.TempDir(), "child.log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), childDataDir+"="+dir)
	cmd.Stderr = log
	output, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill = sync.OnceFunc(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = log.Close()
	})
	t.Cleanup(kill)
	line, err := bufio.NewReader(output).ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "/") {
		text, _ := os.ReadFile(log.Name())
		t.Fatalf("start a server as a process of its own: %q, %v\n%s", line, err, text)
	}

	return kill, strings.TrimSpace(line)
}

func firstObjects(g *harness.Garden) func(t *testing.T) {
	return func(t *testing.T) {
		t.Parallel()

		for _, name := range []string{"garden", "gardener-system-seed-lease", "gardener-system-shoot-issuer", "gardener-system-public", "kube-system"} {
			if err := g.Client.Get(t.Context(), client.ObjectKey{Name: name}, &corev1.Namespace{}); err != nil {
				t.Errorf("A gardenlet not written by us expects namespace %q: %v", name, err)
			}
		}
		someone := g.As(t, "someone", "system:authenticated")
		info := &corev1.ConfigMap{}
		if err := someone.Get(t.Context(), client.ObjectKey{Namespace: "gardener-system-public", Name: "gardener-info"}, info); err != nil {
			t.Fatalf("Everybody may read gardener-info: %v", err)
		}
		if diff := cmp.Diff(map[string]string{"gardenerAPIServer": "version: v1.149.0\n", "joinTokenLifetime": "1h0m0s"}, info.Data); diff != "" {
			t.Errorf("A gardenlet compares its version with this one.\ndata (-want +got):\n%s", diff)
		}
		named := &corev1.ConfigMap{}
		if err := someone.Get(t.Context(), client.ObjectKey{Namespace: "kube-system", Name: "cluster-identity"}, named); err != nil {
			t.Fatalf("gardenctl reads the identity of the garden: %v", err)
		}
		want := map[string]string{"cluster-identity": g.ClusterIdentity, "origin": "gardener-apiserver"}
		if diff := cmp.Diff(want, named.Data); diff != "" {
			t.Errorf("API-NAME-9: the identity is in the ConfigMap.\ndata (-want +got):\n%s", diff)
		}
		named.Data["cluster-identity"] = "other"
		if err := g.Client.Update(t.Context(), named); err == nil {
			t.Error("API-NAME-9: the identity never changes, but an update was accepted.")
		}
		if err := someone.List(t.Context(), &gardencorev1beta1.CloudProfileList{}); err != nil {
			t.Errorf("Everybody may read cloud profiles: %v", err)
		}
	}
}

func mustCreate(t *testing.T, g *harness.Garden, objects ...client.Object) {
	t.Helper()
	for _, o := range objects {
		if err := g.Client.Create(t.Context(), o); err != nil {
			t.Fatalf("create %T %q: %v", o, o.GetName(), err)
		}
	}
}
