// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/flowcontrol"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

const (
	defaultShootUserAgent = "gardenlet"

	shootQPS, shootBurst = 50, 100
	shootDialTimeout     = 10 * time.Second
	shootKeepAlive       = 30 * time.Second
	shootRequestTimeout  = 30 * time.Second
	shootHealthTimeout   = 10 * time.Second
)

// Shoot is the access to one shoot.
type Shoot struct {
	// Client reads without a cache.
	client.Client

	// CA is the bundle that verifies the API server, if the kubeconfig holds one.
	CA []byte

	// Healthz asks the API server for /healthz and returns the status of the answer. The error says why there was none.
	Healthz func(ctx context.Context) (int, error)

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
func connectShoot(kubeconfig []byte, scheme *runtime.Scheme, userAgent string) (*Shoot, error) {
	config, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("read kubeconfig: %w", err)
	}
	config.UserAgent, config.Timeout = userAgent, shootRequestTimeout
	// Without a shared limiter each kind would have a limit of its own.
	config.RateLimiter = flowcontrol.NewTokenBucketRateLimiter(shootQPS, shootBurst)
	// Clients with the same credentials and dialer share connections. A shoot has its own dialer, so that its connections can be
	// closed.
	config.Dial = (&net.Dialer{Timeout: shootDialTimeout, KeepAlive: shootKeepAlive}).DialContext
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
	// Health checks do not wait for the rate limit that busy controllers use up.
	unlimited := rest.CopyConfig(config)
	unlimited.RateLimiter = flowcontrol.NewFakeAlwaysRateLimiter()
	plain, err := discovery.NewDiscoveryClientForConfigAndClient(unlimited, transport)
	if err != nil {
		return nil, fmt.Errorf("build client: %w", err)
	}
	return &Shoot{
		Client:  shootClient,
		CA:      config.CAData,
		Healthz: func(ctx context.Context) (int, error) { return healthz(ctx, plain.RESTClient()) },
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
