// SPDX-License-Identifier: Apache-2.0

package tunnel_test

import (
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/client-go/kubernetes/scheme"
	agentapp "sigs.k8s.io/apiserver-network-proxy/cmd/agent/app"
	agentoptions "sigs.k8s.io/apiserver-network-proxy/cmd/agent/app/options"

	"github.com/terrarium-garden/terrarium/controllers/component/apiserver"
	"github.com/terrarium-garden/terrarium/controllers/secrets"
)

// TestConnect runs the programs of both ends with the flags that are rendered, and goes through them as an API server does. An agent with
// a token that is for somebody else is not let in.
func TestConnect(t *testing.T) {
	t.Parallel()
	target := beyond(t)
	refused := make(chan struct{}, 100)
	s := newSite(t, refused, 1)
	only := s.servers[0]
	only.start(t)

	s.runAgent(t, "of-another-account")
	select {
	case <-refused:
	case <-time.After(time.Minute):
		t.Fatal("nobody asked whether the token of the agent is good")
	}
	if said, err := only.ask(t.Context(), target); err != nil || !strings.Contains(said, "no tunnels available") {
		t.Errorf("through a tunnel that lets nobody in: %q, %v", said, err)
	}
	s.runAgent(t, "good")
	only.reaches(t, target)
}

// beyond serves what is on the other side of a tunnel, and returns its address.
func beyond(t *testing.T) string {
	t.Helper()
	answer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, "from beyond") }))
	t.Cleanup(answer.Close)
	return strings.TrimPrefix(answer.URL, "http://")
}

// site has the files of both ends of a tunnel, an API server that reviews tokens, and the servers of the tunnel behind one address.
type site struct {
	dir     string
	servers []*server
	// port is where agents come to.
	port int
}

func newSite(t *testing.T, refused chan<- struct{}, servers int) *site {
	t.Helper()
	s := &site{dir: t.TempDir()}
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
	args, ports := serverArgs(t, servers), make([]int, servers)
	for i := range servers {
		ports[i] = freePort(t)
		s.servers = append(s.servers, &server{dir: s.dir, args: args, socket: filepath.Join(s.dir, strconv.Itoa(i)), port: ports[i]})
	}
	s.port = balance(t, ports)
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

// runAgent runs an agent with a token.
func (s *site) runAgent(t *testing.T, token string) {
	t.Helper()
	o := agentoptions.NewGrpcProxyAgentOptions()
	if err := o.Flags().Parse(agent(t, render(t, "127.0.0.1")).Containers[0].Args); err != nil {
		t.Fatal(err)
	}
	o.CaCert, o.ServiceAccountTokenPath = filepath.Join(s.dir, "tls.crt"), s.write(t, token, []byte(token))
	o.ProxyServerPort, o.HealthServerPort, o.AdminServerPort = s.port, freePort(t), freePort(t)
	o.HealthServerHost, o.SyncInterval, o.SyncIntervalCap = "127.0.0.1", 100*time.Millisecond, 300*time.Millisecond
	drain, stop, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() { ended <- new(agentapp.Agent).Run(o, drain, stop) }()
	t.Cleanup(func() {
		close(stop)
		if err := <-ended; err != nil {
			t.Errorf("an agent of the tunnel: %v", err)
		}
	})
}
