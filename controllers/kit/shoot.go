// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/flowcontrol"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
)

const (
	defaultShootUserAgent = "gardenlet"

	// shootQPS and shootBurst limit the requests to one shoot unless others are configured.
	shootQPS, shootBurst = 50, 100
	shootDialTimeout     = 10 * time.Second
	shootKeepAlive       = 30 * time.Second
	shootRequestTimeout  = 30 * time.Second
	shootHealthTimeout   = 10 * time.Second
	// shootErrorLimit is how much is read of an answer that is an error.
	shootErrorLimit = 1 << 10
)

// Shoot is the access to one shoot.
type Shoot struct {
	// Client reads without a cache.
	client.Client

	// Watcher is the same client without a time limit for requests, for watches.
	Watcher client.WithWatch

	// CA is the bundle that verifies the API server, if the kubeconfig holds one.
	CA []byte

	// Healthz asks the API server for /healthz and returns the status of the answer. The error says why there was none.
	Healthz func(ctx context.Context) (int, error)

	// Try requests a path of the API server, and says why the answer is not a good one. The answer may be that of a stranger's program.
	Try func(ctx context.Context, path string) error

	// close closes the connections as soon as no request needs them; it may be nil.
	close func()
}

func (s *Shoot) disconnect() {
	if s.close != nil {
		s.close()
	}
}

// connectShoot makes the access to a shoot from a kubeconfig, without a request to it. The kinds of the shoot are discovered
// with the first request that needs them, and again only for an unknown kind.
func connectShoot(kubeconfig []byte, scheme *runtime.Scheme, userAgent string, connection gardenconfigv1alpha1.ClientConnectionConfiguration) (*Shoot, error) {
	config, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("read kubeconfig: %w", err)
	}
	config.UserAgent, config.Timeout = userAgent, shootRequestTimeout
	// Without a shared limiter each kind would have a limit of its own.
	config.RateLimiter = limiter(connection)
	tuneFormats(config, connection)
	// Clients with the same credentials and dialer share connections. A shoot has its own dialer, so that its connections can be
	// closed.
	config.Dial = (&net.Dialer{Timeout: shootDialTimeout, KeepAlive: shootKeepAlive}).DialContext
	// Compressed answers could be a thousand times as long as what is received.
	config.DisableCompression = true
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return answers{next} })
	transport, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("build transport: %w", err)
	}
	mapper, err := apiutil.NewDynamicRESTMapper(config, transport)
	if err != nil {
		return nil, fmt.Errorf("build mapper of kinds: %w", err)
	}
	shootClient, err := client.New(config, client.Options{Scheme: scheme, Mapper: mapper, HTTPClient: transport})
	if err != nil {
		return nil, fmt.Errorf("build client: %w", err)
	}
	endless := *config
	endless.Timeout = 0
	watcher, err := client.NewWithWatch(&endless, client.Options{Scheme: scheme, Mapper: mapper, HTTPClient: &http.Client{Transport: transport.Transport}})
	if err != nil {
		return nil, fmt.Errorf("build client for watches: %w", err)
	}
	// Health checks do not wait for the rate limit that busy controllers use up.
	unlimited := rest.CopyConfig(config)
	unlimited.RateLimiter = flowcontrol.NewFakeAlwaysRateLimiter()
	plain, err := discovery.NewDiscoveryClientForConfigAndClient(unlimited, transport)
	if err != nil {
		return nil, fmt.Errorf("build client: %w", err)
	}
	return &Shoot{
		Client: shootClient, Watcher: watcher,
		CA:      config.CAData,
		Healthz: func(ctx context.Context) (int, error) { return healthz(ctx, plain.RESTClient()) },
		Try:     trying(config.Host, transport.Transport),
		close:   func() { closeConnections(transport.Transport) },
	}, nil
}

// closeConnections closes idle connections now, and again when all running requests must have ended.
func closeConnections(transport http.RoundTripper) {
	for _, after := range []time.Duration{0, time.Second, shootRequestTimeout} {
		time.AfterFunc(after, func() { utilnet.CloseIdleConnectionsFor(transport) })
	}
}

func healthz(ctx context.Context, server rest.Interface) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, shootHealthTimeout)
	defer cancel()
	status := 0
	result := server.Get().AbsPath("/healthz").Do(ctx).StatusCode(&status)
	if status != 0 {
		return status, nil
	}
	return 0, result.Error()
}

// trying returns how to request a path of a server. What answers behind the API server may be anybody's: a redirection is not followed, and
// little is read.
func trying(server string, transport http.RoundTripper) func(ctx context.Context, path string) error {
	c := &http.Client{
		Transport: transport, Timeout: shootHealthTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return func(ctx context.Context, path string) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(server, "/")+path, nil)
		if err != nil {
			return fmt.Errorf("request %s of the API server: %w", path, err)
		}
		response, err := c.Do(request)
		if err != nil {
			return fmt.Errorf("request %s of the API server: %w", path, err)
		}
		defer response.Body.Close() //nolint:errcheck // It is only read.
		if response.StatusCode == http.StatusOK {
			return nil
		}
		said, err := io.ReadAll(io.LimitReader(response.Body, shootErrorLimit))
		return errors.Join(fmt.Errorf("request %s of the API server: %s: %q", path, response.Status, said), err)
	}
}
