// SPDX-License-Identifier: Apache-2.0

package gardenlet

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/healthz"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/gardenlet/gardenaccess"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/lease"
)

// process holds what all units of a gardenlet share from the start, and state that later units publish for earlier ones, which is
// guarded against concurrent access.
type process struct {
	*completed

	health *lease.Health
	random func() float64

	// leading is set when this replica is the leader.
	leading atomic.Bool
	// synced is closed when the caches of the controllers are filled.
	synced chan struct{}
	// syncSince is when the caches started to fill.
	syncSince atomic.Pointer[time.Time]
	// recorder records events in the garden. It is set when the controllers are created.
	recorder atomic.Pointer[events.EventRecorder]
}

// garden is the connection of the process to the garden.
type garden struct {
	access *gardenaccess.Access
	client client.Client
}

// seedName is the name of the seed of this gardenlet.
func (p *process) seedName() string { return p.Config.SeedConfig.Name }

// alive reports the process as healthy while there is no heartbeat yet.
func (p *process) alive() { p.health.Set(true) }

// newSeedClient returns a client of the seed without a cache.
func (p *process) newSeedClient() (client.Client, error) {
	c, err := client.New(p.seed, client.Options{Scheme: p.scheme})
	if err != nil {
		return nil, fmt.Errorf("build client of the seed at %s: %w", p.seed.Host, err)
	}
	return c, nil
}

// serveHealth answers probes until ctx ends.
func (p *process) serveHealth(ctx context.Context, ready func()) error {
	p.alive()
	address := addressOf(p.Config.Server.HealthProbes)
	if address == "" {
		ready()
		<-ctx.Done()
		return nil
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return portError(fmt.Errorf("listen for health probes: %w", err), "server.healthProbes.port")
	}
	server := &http.Server{Handler: p.probes(), ReadHeaderTimeout: 10 * time.Second}
	stopped := make(chan error, 1)
	go func() { stopped <- server.Serve(listener) }()
	ready()
	select {
	case err := <-stopped:
		return fmt.Errorf("serve health probes: %w", err)
	case <-ctx.Done():
	}
	stopCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	err = server.Shutdown(stopCtx)
	if served := <-stopped; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}

// probes serves liveness and readiness (GLET-LEASE-6 and 7).
func (p *process) probes() http.Handler {
	mux := http.NewServeMux()
	for path, caches := range map[string]healthz.Checker{"/healthz": p.cachesInTime, "/readyz": p.cachesSynced} {
		handler := http.StripPrefix(path, &healthz.Handler{Checks: map[string]healthz.Checker{
			"ping": healthz.Ping, "heartbeat": p.heartbeat, "informer-sync": caches,
		}})
		mux.Handle(path, handler)
		mux.Handle(path+"/", handler)
	}
	return mux
}

func (p *process) heartbeat(*http.Request) error {
	if !p.health.Healthy() {
		return errors.New("the heartbeat of the gardenlet has stopped")
	}
	return nil
}

// cachesSynced returns an error while this replica is the leader and its caches are not filled. Other replicas are ready.
func (p *process) cachesSynced(*http.Request) error {
	select {
	case <-p.synced:
		return nil
	default:
	}
	if p.leading.Load() {
		return errors.New("caches are not synced yet")
	}
	return nil
}

// cachesInTime returns an error if the caches are not filled in time.
func (p *process) cachesInTime(request *http.Request) error {
	since := p.syncSince.Load()
	if since == nil || p.Clock.Since(*since) < p.Config.Controllers.CacheSyncTimeout.Duration {
		return nil
	}
	return p.cachesSynced(request)
}

// rotationFailed logs that the credentials could not be renewed, and records an event in the garden.
func (p *process) rotationFailed(err error, expiry time.Time) {
	p.Log.Error(err, "Garden credentials could not be renewed", "expiry", expiry)
	if recorder := p.recorder.Load(); recorder != nil {
		p.recordRotationFailure(*recorder, err, expiry)
	}
}

func addressOf(endpoint *gardenconfigv1alpha1.Endpoint) string {
	if endpoint == nil || endpoint.Port < 1 {
		return ""
	}
	return net.JoinHostPort(endpoint.BindAddress, strconv.Itoa(endpoint.Port))
}

func newNamespace(name string) *corev1.Namespace {
	namespace := &corev1.Namespace{}
	namespace.Name = name
	return namespace
}
