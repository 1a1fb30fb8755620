// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/appliance/server"
	"github.com/terrarium-garden/terrarium/appliance/upgrade"
	"github.com/terrarium-garden/terrarium/storage/kine"
)

// startLimit is how long a garden may take to be ready on a machine that is busy with other tests.
const startLimit = 2 * time.Minute

// Garden is a running garden.
type Garden struct {
	// Config reaches the garden as its administrator.
	Config *rest.Config
	// Client does so with all kinds of the garden and of Kubernetes.
	Client client.WithWatch
	// Scheme knows those kinds.
	Scheme *runtime.Scheme
	// CA is the bundle that the garden's certificate comes from.
	CA []byte
	// Server is the URL of the garden on this machine.
	Server string
	// External is the URL that clients elsewhere are told.
	External string
	// Kubeconfig is the path of the administrator's kubeconfig.
	Kubeconfig string
	// ClusterIdentity is the name that the garden keeps for life.
	ClusterIdentity string
	// DataDir is the data directory.
	DataDir string

	cancel context.CancelFunc
	done   chan error
	ready  chan server.Garden
	lines  *buffer
	// address is that of the port, of a garden that is not ready as well.
	address string
}

// Log returns what the garden has logged so far.
func (g *Garden) Log() string { return g.lines.String() }

// Option changes how a garden is started.
type Option func(*settings)

type settings struct {
	config    *gardenconfigv1alpha1.ServerConfiguration
	listener  net.Listener
	datastore func(*kine.Config)
	clock     clock.WithTicker

	version    string
	migrations []upgrade.Migration
}

// WithDataDir uses a data directory that may exist already.
func WithDataDir(dir string) Option {
	return func(s *settings) { s.config.DataDir = dir }
}

// WithListener serves on a given port.
func WithListener(l net.Listener) Option {
	return func(s *settings) { s.listener = l }
}

// WithConfig changes the configuration of the server.
func WithConfig(change func(*gardenconfigv1alpha1.ServerConfiguration)) Option {
	return func(s *settings) { change(s.config) }
}

// WithClock runs the garden's controllers on that clock. Objects are created at the real time all the same.
func WithClock(c *Clock) Option {
	return func(s *settings) { s.clock = c }
}

// WithDatastore changes how the objects are kept.
func WithDatastore(change func(*kine.Config)) Option {
	return func(s *settings) { s.datastore = change }
}

// WithVersion runs the garden as another version of the program, with the migrations to it.
func WithVersion(version string, migrations ...upgrade.Migration) Option {
	return func(s *settings) { s.version, s.migrations = version, migrations }
}

// Start runs a garden and returns once it is ready. The garden is stopped when the test ends; its log is shown if the
// test has failed.
func Start(tb testing.TB, options ...Option) *Garden {
	tb.Helper()
	g := Begin(tb, options...)
	g.AwaitReady(tb)

	return g
}

// Begin runs a garden, and returns before it is ready.
func Begin(tb testing.TB, options ...Option) *Garden {
	tb.Helper()
	s := newSettings(tb, options)
	log, logs, lines := newLog(tb)
	ctx, cancel := context.WithCancel(context.WithoutCancel(tb.Context()))
	g := &Garden{
		DataDir: s.config.DataDir, cancel: cancel, done: make(chan error, 1), ready: make(chan server.Garden, 1), lines: lines,
		address: s.listener.Addr().String(),
	}
	go func() {
		g.done <- server.Run(ctx, server.Options{
			Config:  s.config,
			Log:     log,
			Logs:    logs,
			Version: s.version, Migrations: s.migrations,
			Listener:  s.listener,
			Ready:     func(found server.Garden) { g.ready <- found },
			Datastore: s.datastore,
			Clock:     s.clock,
		})
	}()
	tb.Cleanup(func() { g.Stop(tb) })

	return g
}

// AwaitReady returns once the garden is ready.
func (g *Garden) AwaitReady(tb testing.TB) {
	tb.Helper()
	limit := time.NewTimer(startLimit)
	defer limit.Stop()
	select {
	case found := <-g.ready:
		g.reach(tb, found)
	case err := <-g.done:
		g.done = nil
		tb.Fatalf("start garden: %v", err)
	case <-limit.C:
		tb.Fatalf("start garden: not ready after %s", startLimit)
	}
}

// Ended returns the error with which a garden has ended by itself.
func (g *Garden) Ended(tb testing.TB) error {
	tb.Helper()
	limit := time.NewTimer(startLimit)
	defer limit.Stop()
	select {
	case err := <-g.done:
		g.done = nil

		return err
	case <-g.ready:
		tb.Fatal("the garden is ready, and should have ended")
	case <-limit.C:
		tb.Fatalf("the garden has not ended after %s", startLimit)
	}

	return nil
}

// Ask sends a request without credentials to a garden that need not be ready, and does not check who answers.
func (g *Garden) Ask(ctx context.Context, path string) (code int, body string, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+g.address+path, nil)
	if err != nil {
		return 0, "", err
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}} //nolint:gosec // Nothing is sent that is secret.
	defer transport.CloseIdleConnections()
	answer, err := transport.RoundTrip(request)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)

	return answer.StatusCode, string(text), err
}

// Stop stops the garden and waits for it. Stopping it again does nothing.
func (g *Garden) Stop(tb testing.TB) {
	tb.Helper()
	g.cancel()
	if g.done == nil {
		return
	}
	if err := <-g.done; err != nil {
		tb.Errorf("stop garden: %v", err)
	}
	g.done = nil
}

func newSettings(tb testing.TB, options []Option) *settings {
	tb.Helper()
	s := &settings{config: &gardenconfigv1alpha1.ServerConfiguration{}, version: "v0.0.0-test"}
	s.config.SetDefaults()
	s.config.DataDir = ""
	for _, change := range options {
		change(s)
	}
	if s.config.DataDir == "" {
		s.config.DataDir = tb.TempDir()
	}
	if s.listener == nil {
		l, err := new(net.ListenConfig).Listen(tb.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			tb.Fatalf("find a free port: %v", err)
		}
		s.listener = l
	}

	return s
}

func (g *Garden) reach(tb testing.TB, found server.Garden) {
	tb.Helper()
	var err error
	if g.Config, err = clientcmd.BuildConfigFromFlags("", found.Kubeconfig); err != nil {
		tb.Fatalf("read kubeconfig of the garden: %v", err)
	}
	g.Config.QPS = -1
	if g.Scheme, err = scheme.New(); err != nil {
		tb.Fatalf("make scheme: %v", err)
	}
	if g.Client, err = client.NewWithWatch(g.Config, client.Options{Scheme: g.Scheme}); err != nil {
		tb.Fatalf("make client of the garden: %v", err)
	}
	g.CA = g.Config.CAData
	g.Server, g.External = found.Local, found.Server
	g.Kubeconfig = found.Kubeconfig
	g.ClusterIdentity = found.ClusterIdentity
}

// As returns a client that acts as somebody else, which an administrator may do.
func (g *Garden) As(tb testing.TB, user string, groups ...string) client.WithWatch {
	tb.Helper()
	config := rest.CopyConfig(g.Config)
	config.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: groups}

	return g.client(tb, config)
}

// Anonymous returns how to reach the garden without showing who one is.
func (g *Garden) Anonymous() *rest.Config {
	return rest.AnonymousClientConfig(g.Config)
}

// WithToken returns a client that shows a bearer token.
func (g *Garden) WithToken(tb testing.TB, token string) client.WithWatch {
	tb.Helper()
	config := g.Anonymous()
	config.BearerToken = token

	return g.client(tb, config)
}

func (g *Garden) client(tb testing.TB, config *rest.Config) client.WithWatch {
	tb.Helper()
	c, err := client.NewWithWatch(config, client.Options{Scheme: g.Scheme})
	if err != nil {
		tb.Fatalf("make client of the garden: %v", err)
	}

	return c
}
