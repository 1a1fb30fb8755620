// SPDX-License-Identifier: Apache-2.0

package kubeapi

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// Program is the path of a binary with the programs of a cluster.
type Program string

// Build builds them. The folder is the way to the root of the module.
func Build(tb testing.TB, root string) Program {
	tb.Helper()
	program := filepath.Join(tb.TempDir(), "seedling")
	build := exec.CommandContext(tb.Context(), "go", "build", "-o", program, "./appliance/seedling") //nolint:gosec // The path is that of a temporary folder.
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		tb.Fatalf("build the programs of a cluster: %v\n%s", err, out)
	}
	return Program(program)
}

// Server is a running API server.
type Server struct {
	// Config reaches it as its administrator, and so does Client, which knows all kinds of the garden and of Kubernetes.
	Config *rest.Config
	Client client.WithWatch
	// Scheme knows those kinds.
	Scheme *runtime.Scheme
	// Kubeconfig is that of the administrator.
	Kubeconfig []byte
}

// Start runs an API server and returns once it is ready.
func (p Program) Start(tb testing.TB) *Server {
	tb.Helper()
	folder := tb.TempDir()
	token, key := p.credentials(tb, folder)
	clients, peers, port := free(tb), free(tb), free(tb)
	p.run(tb, "etcd", "--data-dir="+filepath.Join(folder, "etcd"), "--log-level=error", "--unsafe-no-fsync",
		"--listen-client-urls="+local("http", clients), "--advertise-client-urls="+local("http", clients),
		"--listen-peer-urls="+local("http", peers), "--initial-advertise-peer-urls="+local("http", peers), "--initial-cluster=default="+local("http", peers))
	p.run(tb, "kube-apiserver", "--etcd-servers="+local("http", clients), "--bind-address=127.0.0.1", "--advertise-address=10.253.0.1",
		"--secure-port="+strconv.Itoa(port), "--cert-dir="+folder, "--service-cluster-ip-range=10.254.0.0/16", "--authorization-mode=RBAC",
		"--token-auth-file="+filepath.Join(folder, "tokens.csv"), "--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file="+key, "--service-account-signing-key-file="+key, "--allow-privileged=true", "--profiling=false",
		// Nobody makes the service accounts of pods.
		"--disable-admission-plugins=ServiceAccount")
	s := &Server{Config: &rest.Config{
		Host: local("https", port), BearerToken: token, QPS: -1,
		TLSClientConfig: rest.TLSClientConfig{ServerName: "kubernetes.default.svc", CAFile: filepath.Join(folder, "apiserver.crt")},
	}}
	s.reach(tb)
	return s
}

func local(scheme string, port int) string {
	return scheme + "://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
}

// free is a port that is free at the moment.
func free(tb testing.TB) int {
	tb.Helper()
	l, err := new(net.ListenConfig).Listen(tb.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatalf("find a free port: %v", err)
	}
	address, _ := l.Addr().(*net.TCPAddr)
	if err := l.Close(); err != nil {
		tb.Fatal(err)
	}
	return address.Port
}

// credentials writes the token of the administrator and a key for service accounts into a folder.
func (p Program) credentials(tb testing.TB, folder string) (token, keyFile string) {
	tb.Helper()
	token, keyFile = rand.Text(), filepath.Join(folder, "accounts.key")
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		tb.Fatal(err)
	}
	encoded := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	err = errors.Join(
		os.WriteFile(keyFile, encoded, 0o600),
		os.WriteFile(filepath.Join(folder, "tokens.csv"), []byte(token+",admin,admin,system:masters\n"), 0o600),
	)
	if err != nil {
		tb.Fatal(err)
	}
	return token, keyFile
}

// run runs a program until the test ends. What it says is in a file beside its data, and shown if the test has failed.
func (p Program) run(tb testing.TB, name string, args ...string) {
	tb.Helper()
	said, err := os.Create(filepath.Join(tb.TempDir(), name+".log")) //nolint:gosec // It is in a temporary folder.
	if err != nil {
		tb.Fatal(err)
	}
	process := exec.CommandContext(context.WithoutCancel(tb.Context()), string(p), append([]string{name}, args...)...) //nolint:gosec // It is what Build has built.
	process.Stdout, process.Stderr = said, said
	if err := process.Start(); err != nil {
		tb.Fatalf("start %s: %v", name, err)
	}
	tb.Cleanup(func() {
		_ = process.Process.Kill()
		_ = process.Wait()
		_ = said.Close()
		if text, err := os.ReadFile(said.Name()); err == nil && tb.Failed() {
			tb.Logf("%s said at the end:\n%s", name, text[max(0, len(text)-4000):])
		}
	})
}

// reach fills the server in once it is ready.
func (s *Server) reach(tb testing.TB) {
	tb.Helper()
	var err error
	if s.Scheme, err = scheme.New(); err != nil {
		tb.Fatal(err)
	}
	harness.Eventually(tb, "the API server is ready", func(ctx context.Context) error {
		if _, err := os.Stat(s.Config.CAFile); err != nil {
			return err
		}
		d, err := discovery.NewDiscoveryClientForConfig(s.Config)
		if err != nil {
			return err
		}
		return d.RESTClient().Get().AbsPath("/readyz").Do(ctx).Error()
	})
	if s.Client, err = client.NewWithWatch(s.Config, client.Options{Scheme: s.Scheme}); err != nil {
		tb.Fatal(err)
	}
	if s.Kubeconfig, err = s.kubeconfig(); err != nil {
		tb.Fatal(err)
	}
}

func (s *Server) kubeconfig() ([]byte, error) {
	ca, err := os.ReadFile(s.Config.CAFile)
	if err != nil {
		return nil, fmt.Errorf("read the certificate of the server: %w", err)
	}
	const name = "admin"
	return clientcmd.Write(clientcmdapi.Config{
		Clusters:  map[string]*clientcmdapi.Cluster{name: {Server: s.Config.Host, CertificateAuthorityData: ca, TLSServerName: s.Config.ServerName}},
		AuthInfos: map[string]*clientcmdapi.AuthInfo{name: {Token: s.Config.BearerToken}},
		Contexts:  map[string]*clientcmdapi.Context{name: {Cluster: name, AuthInfo: name}}, CurrentContext: name,
	})
}
