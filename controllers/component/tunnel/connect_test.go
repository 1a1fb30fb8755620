// SPDX-License-Identifier: Apache-2.0

package tunnel_test

import (
	"bufio"
	"context"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes/scheme"
	agentapp "sigs.k8s.io/apiserver-network-proxy/cmd/agent/app"
	agentoptions "sigs.k8s.io/apiserver-network-proxy/cmd/agent/app/options"
	serverapp "sigs.k8s.io/apiserver-network-proxy/cmd/server/app"
	serveroptions "sigs.k8s.io/apiserver-network-proxy/cmd/server/app/options"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/apiserver"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/secrets"
)

// TestConnect runs the programs of both ends with the flags that are rendered, and goes through them as an API server does. An agent with
// a token that is for somebody else is not let in.
func TestConnect(t *testing.T) {
	t.Parallel()
	answer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, "from beyond") }))
	t.Cleanup(answer.Close)
	target := strings.TrimPrefix(answer.URL, "http://")
	refused := make(chan struct{}, 100)
	s := newSite(t, refused)
	s.runServer(t)

	s.runAgent(t, "of-another-account")
	select {
	case <-refused:
	case <-time.After(time.Minute):
		t.Fatal("nobody asked whether the token of the agent is good")
	}
	if said, err := s.ask(t.Context(), target); err != nil || !strings.Contains(said, "no tunnels available") {
		t.Errorf("through a tunnel that lets nobody in: %q, %v", said, err)
	}
	s.runAgent(t, "good")
	var last string
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		said, err := s.ask(ctx, target)
		last = fmt.Sprint(said, err)
		return err == nil && said == "from beyond", nil
	})
	if err != nil {
		t.Errorf("nothing came through: %v; last answer: %s", err, last)
	}
}

// site has the files of both ends of a tunnel, and an API server that reviews tokens.
type site struct {
	dir, socket string
	port        int
}

func newSite(t *testing.T, refused chan<- struct{}) *site {
	t.Helper()
	s := &site{dir: t.TempDir(), port: freePort(t)}
	s.socket = filepath.Join(s.dir, "s")
	reviews := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { review(w, r, refused) }))
	t.Cleanup(reviews.Close)
	// Its certificate is for 127.0.0.1, so it also is that of the server of the tunnel.
	certificate := reviews.TLS.Certificates[0]
	key, err := x509.MarshalPKCS8PrivateKey(certificate.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	public := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate.Certificate[0]})
	kubeconfig, err := secrets.Kubeconfig(secrets.KubeconfigSpec{Context: "a", Server: reviews.URL, CA: public, Token: "server"})
	if err != nil {
		t.Fatal(err)
	}
	s.write(t, "kubeconfig", kubeconfig)
	s.write(t, "tls.crt", public)
	s.write(t, "tls.key", pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}))
	return s
}

func (s *site) write(t *testing.T, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(s.dir, name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// review says of each token but one that it is of somebody else.
func review(w http.ResponseWriter, r *http.Request, refused chan<- struct{}) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	object, _, err := scheme.Codecs.UniversalDeserializer().Decode(body, nil, nil)
	asked, ok := object.(*authenticationv1.TokenReview)
	if err != nil || !ok || strings.Join(asked.Spec.Audiences, ",") != apiserver.TunnelAudience {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	asked.APIVersion, asked.Kind = "authentication.k8s.io/v1", "TokenReview"
	asked.Status.Authenticated, asked.Status.Audiences = true, asked.Spec.Audiences
	asked.Status.User.Username = "system:serviceaccount:kube-system:konnectivity-agent"
	if asked.Spec.Token != "good" {
		asked.Status.User.Username = "system:serviceaccount:default:konnectivity-agent"
		select {
		case refused <- struct{}{}:
		default:
		}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusCreated)
	if err := json.NewEncoder(w).Encode(asked); err != nil {
		panic(http.ErrAbortHandler)
	}
}

func freePort(t *testing.T) int {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()                     //nolint:errcheck // It has accepted nothing.
	return listener.Addr().(*net.TCPAddr).Port //nolint:forcetypeassert // It listens on TCP.
}

// runServer runs the server as it stands beside an API server, on other ports and with other files.
func (s *site) runServer(t *testing.T) {
	t.Helper()
	f := facts.Shoot{Shoot: &gardencorev1beta1.Shoot{}, Namespace: "shoot--dev--a"}
	f.Shoot.Spec.Provider.Workers = []gardencorev1beta1.Worker{{Name: "small"}}
	in := &component.Inputs{
		Replicas: 1, Images: map[string]string{"kube-apiserver": "a", "konnectivity-server": "k"},
		Addresses: component.Addresses{apiserver.Exposure: {ClusterIP: "10.97.0.9", LoadBalancer: "127.0.0.1"}}, Secrets: map[string]component.Secret{},
	}
	requests, err := apiserver.Component().Secrets(f, in.Addresses)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range requests {
		in.Secrets[r.Name] = component.Secret{Name: r.Name}
	}
	objs, err := apiserver.Component().Render(f, in)
	if err := errors.Join(err, in.Missing()); err != nil {
		t.Fatal(err)
	}
	o := serveroptions.NewProxyRunOptions()
	for _, obj := range objs {
		if d, ok := obj.(*appsv1.Deployment); ok {
			if err := o.Flags().Parse(d.Spec.Template.Spec.InitContainers[0].Args); err != nil {
				t.Fatal(err)
			}
		}
	}
	o.UdsName, o.KubeconfigPath = s.socket, filepath.Join(s.dir, "kubeconfig")
	o.ClusterCert, o.ClusterKey = filepath.Join(s.dir, "tls.crt"), filepath.Join(s.dir, "tls.key")
	o.AgentPort, o.HealthPort, o.AdminPort = s.port, freePort(t), freePort(t)
	o.AgentBindAddress, o.HealthBindAddress = "127.0.0.1", "127.0.0.1"
	stop, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- new(serverapp.Proxy).Run(o, stop) }()
	t.Cleanup(func() {
		close(stop)
		if err := <-ended; err != nil {
			t.Errorf("the server of the tunnel: %v", err)
		}
	})
	await(t, func(ctx context.Context) error {
		connection, err := new(net.Dialer).DialContext(ctx, "unix", s.socket)
		if err == nil {
			err = connection.Close()
		}
		return err
	})
}

// runAgent runs an agent with a token.
func (s *site) runAgent(t *testing.T, token string) {
	t.Helper()
	o := agentoptions.NewGrpcProxyAgentOptions()
	if err := o.Flags().Parse(agent(t, render(t, "127.0.0.1")).Containers[0].Args); err != nil {
		t.Fatal(err)
	}
	o.CaCert, o.ServiceAccountTokenPath = filepath.Join(s.dir, "tls.crt"), s.write(t, token, []byte(token))
	o.ProxyServerPort, o.HealthServerPort, o.AdminServerPort = s.port, freePort(t), freePort(t)
	o.HealthServerHost, o.SyncInterval = "127.0.0.1", 100*time.Millisecond
	drain, stop, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() { ended <- new(agentapp.Agent).Run(o, drain, stop) }()
	t.Cleanup(func() {
		close(stop)
		if err := <-ended; err != nil {
			t.Errorf("an agent of the tunnel: %v", err)
		}
	})
}

func await(t *testing.T, works func(ctx context.Context) error) {
	t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		last = works(ctx)
		return last == nil, nil
	})
	if err != nil {
		t.Fatal(errors.Join(err, last))
	}
}

// ask requests something of a target through the socket, and returns the answer, be it from the target or from the tunnel.
func (s *site) ask(ctx context.Context, target string) (string, error) {
	connection, err := new(net.Dialer).DialContext(ctx, "unix", s.socket)
	if err != nil {
		return "", err
	}
	defer connection.Close() //nolint:errcheck // It is used up.
	if err := connection.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		return "", err
	}
	from := bufio.NewReader(connection)
	if _, err := fmt.Fprintf(connection, "CONNECT %s HTTP/1.1\r\nHost: %[1]s\r\n\r\n", target); err != nil {
		return "", err
	}
	connected, err := http.ReadResponse(from, &http.Request{Method: http.MethodConnect})
	if err != nil {
		return "", err
	}
	defer connected.Body.Close() //nolint:errcheck // It is only read.
	if connected.StatusCode != http.StatusOK {
		said, err := io.ReadAll(from)
		return string(said), err
	}
	if _, err := fmt.Fprintf(connection, "GET / HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", target); err != nil {
		return "", err
	}
	response, err := http.ReadResponse(from, nil)
	if err != nil {
		return "", err
	}
	defer response.Body.Close() //nolint:errcheck // It is only read.
	said, err := io.ReadAll(response.Body)
	return string(said), err
}
