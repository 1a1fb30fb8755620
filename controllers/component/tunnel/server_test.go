// SPDX-License-Identifier: Apache-2.0

package tunnel_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	serverapp "sigs.k8s.io/apiserver-network-proxy/cmd/server/app"
	serveroptions "sigs.k8s.io/apiserver-network-proxy/cmd/server/app/options"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/apiserver"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
)

// server is a server of a tunnel as it stands beside its API server, on another port and with other files.
type server struct {
	dir, socket string
	args        []string
	port        int
	// stop ends it; it may be called again.
	stop func()
}

// serverArgs are the flags of the servers of a control plane with so many API servers.
func serverArgs(t *testing.T, servers int) []string {
	t.Helper()
	f := facts.Shoot{Shoot: &gardencorev1beta1.Shoot{}, Namespace: "shoot--dev--a"}
	f.Shoot.Spec.Provider.Workers = []gardencorev1beta1.Worker{{Name: "small"}}
	in := &component.Inputs{
		Replicas: int32(servers), Images: map[string]string{"kube-apiserver": "a", "konnectivity-server": "k"},
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
	for _, obj := range objs {
		if d, ok := obj.(*appsv1.Deployment); ok {
			return d.Spec.Template.Spec.InitContainers[0].Args
		}
	}
	t.Fatal("there is no Deployment")
	return nil
}

// start starts the server, for the first time or again, and waits until its API server can reach it.
func (s *server) start(t *testing.T) {
	t.Helper()
	o := serveroptions.NewProxyRunOptions()
	if err := o.Flags().Parse(s.args); err != nil {
		t.Fatal(err)
	}
	o.UdsName, o.KubeconfigPath = s.socket, filepath.Join(s.dir, "kubeconfig")
	o.ClusterCert, o.ClusterKey = filepath.Join(s.dir, "tls.crt"), filepath.Join(s.dir, "tls.key")
	o.AgentPort, o.HealthPort, o.AdminPort = s.port, freePort(t), freePort(t)
	o.AgentBindAddress, o.HealthBindAddress = "127.0.0.1", "127.0.0.1"
	stop, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- new(serverapp.Proxy).Run(o, stop) }()
	running := true
	s.stop = func() {
		if !running {
			return
		}
		running = false
		close(stop)
		if err := <-ended; err != nil {
			t.Errorf("a server of the tunnel: %v", err)
		}
	}
	t.Cleanup(s.stop)
	await(t, func(ctx context.Context) error {
		connection, err := new(net.Dialer).DialContext(ctx, "unix", s.socket)
		if err == nil {
			err = connection.Close()
		}
		return err
	})
}

// reaches waits until a target answers through the tunnel.
func (s *server) reaches(t *testing.T, target string) {
	t.Helper()
	await(t, func(ctx context.Context) error {
		said, err := s.ask(ctx, target)
		if err == nil && said != "from beyond" {
			err = fmt.Errorf("it says %q", said)
		}
		return err
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
func (s *server) ask(ctx context.Context, target string) (string, error) {
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
