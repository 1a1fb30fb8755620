// SPDX-License-Identifier: Apache-2.0

package applets_test

import (
	"bytes"
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/appliance/seedling/applets"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/apiserver"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/secrets"
)

// TestMain lets the tests start the programs: the binary of the tests is a binary with all of them.
func TestMain(m *testing.M) {
	if applet, args, found := applets.All(context.Background()).Select(os.Args); found {
		os.Exit(applet.Run(args))
	}
	os.Exit(m.Run())
}

const (
	patience = 2 * time.Minute
	poll     = 200 * time.Millisecond
)

// output keeps what a program writes.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(data []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(data)
}

func (o *output) end() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	lines := strings.Split(o.text.String(), "\n")
	return strings.Join(lines[max(0, len(lines)-15):], "\n")
}

// start runs a program until the test ends.
func start(t *testing.T, name string, args ...string) *output {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	out := &output{}
	command := exec.CommandContext(t.Context(), self, append([]string{name}, args...)...)
	command.Stdout, command.Stderr = out, out
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	// It is killed when the context of the test ends, which is before this.
	t.Cleanup(func() { _ = command.Wait() })
	return out
}

// store runs an etcd and returns its URL.
func store(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	peer, url := fmt.Sprintf("http://127.0.0.1:%d", freePort(t)), "unix://"+filepath.Join(dir, "s")
	start(t, applets.Etcd, "--data-dir="+filepath.Join(dir, "data"), "--listen-client-urls="+url, "--advertise-client-urls="+peer, "--unsafe-no-fsync",
		"--listen-peer-urls="+peer, "--initial-advertise-peer-urls="+peer, "--initial-cluster=default="+peer, "--log-level=error")
	return url
}

func freePort(t *testing.T) int {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	address, _ := listener.Addr().(*net.TCPAddr)
	return address.Port
}

// running is an API server as it is rendered for a shoot.
type running struct {
	url string
	// admin may do everything, anybody has no credentials.
	admin, anybody *rest.Config
	// audit is the file of its audit log.
	audit string
}

// serve renders the API server of a shoot and runs it with the flags and files of its pod. Only paths, its port and its store are other ones.
func serve(t *testing.T, etcd string, f facts.Shoot) *running {
	t.Helper()

	return serveFrom(t, newSeed(t), etcd, f)
}

// newSeed is an empty cluster for what is rendered.
func newSeed(t *testing.T) client.Client {
	t.Helper()
	types, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}

	return fake.NewClientBuilder().WithScheme(types).Build()
}

// serveFrom does the same with a seed in which the API server may have been rendered before.
func serveFrom(t *testing.T, seed client.Client, etcd string, f facts.Shoot) *running {
	t.Helper()
	manager, err := secrets.Load(t.Context(), secrets.Config{
		Client: seed, Namespace: f.Namespace, Identity: "test", Clock: clock.RealClock{}, Rotations: secrets.RotationsOf(f.Shoot.Status),
	})
	if err != nil {
		t.Fatal(err)
	}
	kept := apiserver.Component().Keep(f)
	err = seed.Get(t.Context(), client.ObjectKeyFromObject(kept), kept)
	if client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	}
	if err != nil {
		kept = nil
	}
	in := &component.Inputs{
		Kept:     kept,
		Replicas: 1, Images: map[string]string{"kube-apiserver": "unused"},
		Addresses: component.Addresses{apiserver.Exposure: {ClusterIP: "127.0.0.1", LoadBalancer: "localhost"}},
	}
	requests, err := apiserver.Component().Secrets(f, in.Addresses)
	if err != nil {
		t.Fatal(err)
	}
	in.Secrets, err = component.Obtain(t.Context(), manager, append(requests, component.Certificate("ca-client", secrets.CertificateSpec{
		Name: "admin", Usage: secrets.UsageClient, CommonName: "admin", Organizations: []string{"system:masters"},
	})))
	if err != nil {
		t.Fatal(err)
	}
	objs, err := apiserver.Component().Render(f, in)
	if err := errors.Join(err, in.Missing()); err != nil {
		t.Fatal(err)
	}
	dir, port := t.TempDir(), freePort(t)
	s := &running{url: fmt.Sprintf("https://127.0.0.1:%d", port), audit: filepath.Join(dir, "audit", "audit.log")}
	out := start(t, applets.APIServer, s.prepare(t, seed, objs, dir, map[string]string{
		"--secure-port=443": fmt.Sprintf("--secure-port=%d", port), "--etcd-servers=": "--etcd-servers=" + etcd, "--etcd-prefix=": "/" + f.Namespace,
	})...)
	ca := rest.TLSClientConfig{CAData: in.Secrets["ca-client"].Trusted}
	ca.CAData, err = os.ReadFile(filepath.Join(dir, "server", "tls.crt"))
	if err != nil {
		t.Fatal(err)
	}
	s.anybody = &rest.Config{Host: s.url, TLSClientConfig: ca}
	s.admin = rest.CopyConfig(s.anybody)
	s.admin.CertData, s.admin.KeyData = in.Secrets["admin"].Certificate, in.Secrets["admin"].Key
	s.await(t, out)
	return s
}

// prepare writes the files of the pod below a folder, and returns the flags with that folder in them.
func (s *running) prepare(t *testing.T, seed client.Client, objs []client.Object, dir string, changes map[string]string) []string {
	t.Helper()
	here := strings.NewReplacer(component.FilesDir, dir, "/tmp/audit", filepath.Dir(s.audit))
	var pod corev1.PodSpec
	for _, obj := range objs {
		if d, ok := obj.(*appsv1.Deployment); ok {
			pod = d.Spec.Template.Spec
			continue
		}
		if err := client.IgnoreNotFound(seed.Delete(t.Context(), obj)); err != nil {
			t.Fatal(err)
		}
		obj.SetResourceVersion("")
		if err := seed.Create(t.Context(), obj); err != nil {
			t.Fatal(err)
		}
	}
	write := func(path string, content []byte) {
		if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(dir, path)), 0o700), os.WriteFile(filepath.Join(dir, path), []byte(here.Replace(string(content))), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for _, volume := range pod.Volumes {
		if volume.Projected == nil {
			continue
		}
		for _, source := range volume.Projected.Sources {
			project(t, seed, source, write)
		}
	}
	var args []string
	for _, arg := range pod.Containers[0].Args {
		switch {
		case changes[arg] != "":
			args = append(args, changes[arg])
		case strings.HasPrefix(arg, "--etcd-servers="):
			args = append(args, changes["--etcd-servers="], "--etcd-prefix="+changes["--etcd-prefix="])
		case !strings.HasPrefix(arg, "--etcd-"):
			args = append(args, here.Replace(arg))
		}
	}
	return args
}

// project writes the files of one source of a volume, as a kubelet does.
func project(t *testing.T, seed client.Client, source corev1.VolumeProjection, write func(path string, content []byte)) {
	t.Helper()
	const namespace = "shoot--dev--a"
	var items []corev1.KeyToPath
	contents := map[string][]byte{}
	switch {
	case source.Secret != nil:
		secret := &corev1.Secret{}
		if err := seed.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: source.Secret.Name}, secret); err != nil {
			t.Fatal(err)
		}
		items, contents = source.Secret.Items, secret.Data
	case source.ConfigMap != nil:
		config := &corev1.ConfigMap{}
		if err := seed.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: source.ConfigMap.Name}, config); err != nil {
			t.Fatal(err)
		}
		items = source.ConfigMap.Items
		for key, text := range config.Data {
			contents[key] = []byte(text)
		}
	}
	for _, item := range items {
		if contents[item.Key] == nil {
			t.Fatalf("there is nothing for the file %s of the pod", item.Path)
		}
		write(item.Path, contents[item.Key])
	}
}

// await waits until the server is ready, and asks as a probe does.
func (s *running) await(t *testing.T, out *output) {
	t.Helper()
	probe, err := rest.HTTPClientFor(s.anybody)
	if err != nil {
		t.Fatal(err)
	}
	var last error
	err = wait.PollUntilContextTimeout(t.Context(), poll, patience, true, func(ctx context.Context) (bool, error) {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"/readyz", http.NoBody)
		if err != nil {
			return false, err
		}
		answer, err := probe.Do(request)
		if last = err; err != nil {
			return false, nil
		}
		defer func() { _ = answer.Body.Close() }()
		last = fmt.Errorf("status %s", answer.Status)
		return answer.StatusCode == http.StatusOK, nil
	})
	if err != nil {
		t.Fatalf("the server is not ready: %v\n%s", last, out.end())
	}
}

// certificateOf is the certificate of a server, which signs itself.
func certificateOf(server *httptest.Server) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
}
