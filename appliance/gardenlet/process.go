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

// process is what all units of one gardenlet have from the start, and what earlier ones learn of later ones, which is guarded.
type process struct {
	*completed

	health *lease.Health
	random func() float64

	// leading is set once this replica is the one that acts.
	leading atomic.Bool
	// synced is closed when the caches of the controllers are filled.
	synced chan struct{}
	// syncSince is when the caches began to fill.
	syncSince atomic.Pointer[time.Time]
	// recorder writes events in the garden once there are controllers.
	recorder atomic.Pointer[events.EventRecorder]
}

// garden is how a process that was let in reaches the garden.
type garden struct {
	access *gardenaccess.Access
	client client.Client
}

// seedName is the name of the seed this gardenlet works for.
func (p *process) seedName() string { return p.Config.SeedConfig.Name }

// alive says that the process is well although its heart does not beat yet.
func (p *process) alive() { p.health.Set(true) }

// newSeedClient makes a client of the seed that no cache stands behind.
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

// cachesSynced holds a replica back that leads and has not seen everything yet. One that waits for its turn is ready.
func (p *process) cachesSynced(*http.Request) error {
	select {
	case <-p.synced:
		return nil
	default:
	}
	if p.leading.Load() {
		return errors.New("caches are not filled yet")
	}
	return nil
}

// cachesInTime gives caches some time to fill before it complains.
func (p *process) cachesInTime(request *http.Request) error {
	since := p.syncSince.Load()
	if since == nil || p.Clock.Since(*since) < p.Config.Controllers.CacheSyncTimeout.Duration {
		return nil
	}
	return p.cachesSynced(request)
}

// rotationFailed tells the garden that its credentials will end, as long as they have not.
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
