// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/terrarium-garden/terrarium/appliance/apiserver"
	"github.com/terrarium-garden/terrarium/appliance/auditlog"
	"github.com/terrarium-garden/terrarium/appliance/authorization/revoked"
	"github.com/terrarium-garden/terrarium/appliance/identity"
	"github.com/terrarium-garden/terrarium/appliance/runner"
	"github.com/terrarium-garden/terrarium/appliance/server/rotation"
	"github.com/terrarium-garden/terrarium/appliance/server/sharing"
	"github.com/terrarium-garden/terrarium/storage/backup"
	"github.com/terrarium-garden/terrarium/storage/kine"
	"github.com/terrarium-garden/terrarium/storage/local/timeline"
)

// grace limits the time for stopping all units.
const grace = 30 * time.Second

// Names of units that others ask about: the one that serves /readyz, and those that keep what happens.
const (
	unitAPIServer = "api-server"
	unitAudit     = "audit"
	unitTimeline  = "timeline"
)

// server is what all units share: the options, and what later units give to those before them.
type server struct {
	Options

	readiness readiness
	// started is when the server was started.
	started time.Time
	// name is the unique name of the garden, once it is known.
	name atomic.Pointer[string]
	// reader reads objects from the cache of the controllers, once they run.
	reader atomic.Pointer[client.Reader]
	// live reads objects from the store, once the controllers run.
	live atomic.Pointer[client.Reader]
	// holders are the servers that share the keys of the garden.
	holders sharing.Holders
	// revoked are the seeds that are shut out.
	revoked atomic.Pointer[revoked.Set]
	// api is the API server, once it is built.
	api atomic.Pointer[apiserver.Server]
	// signals wake up who acts on changed keys.
	signals *rotation.Signals
	// gardenChanged says that the Garden has to be brought up to date.
	gardenChanged chan event.GenericEvent
	// use says which program has used the data directory, after the start.
	use identity.Use
	// stopping has something called as soon as the server is to stop, before the first unit has; what it returns takes that back.
	stopping func(do func()) (forget func() bool)
}

// Run runs a garden until ctx ends, and returns when all units have stopped. The error names the unit that failed.
func Run(ctx context.Context, o Options) error {
	o, err := o.complete()
	if err != nil {
		return err
	}
	// These libraries have a global logger.
	ctrl.SetLogger(o.Log.WithName("controllers"))
	kine.RouteLogs(o.Log.WithName("datastore"), o.Config.Datastore.Endpoint)
	s := &server{Options: o, started: o.Clock.Now(), gardenChanged: make(chan event.GenericEvent, 1)}
	s.signals = rotation.NewSignals(s.tellGarden)
	s.stopping = func(do func()) func() bool { return context.AfterFunc(ctx, do) }

	return runner.Run(ctx, runner.Options{Grace: grace, Clock: o.Clock, Log: o.Log.WithName("server")},
		s.readiness.track(s.units())...)
}

// units returns the units in the order of their start; they stop in reverse order. Each unit gets the values of those before it.
func (s *server) units() []runner.Unit {
	var order runner.Order
	door := runner.Give(&order, "listener", s.runListener)
	keys := runner.Give(&order, "identity", func(ctx context.Context, ready func(*identity.Garden)) error {
		return s.runIdentity(ctx, door.Get(), ready)
	})
	opened := runner.Give(&order, "datastore", func(ctx context.Context, ready func(*kine.Stores)) error {
		return s.datastore(door.Get(), keys.Get()).run(ctx, ready)
	})
	stores := runner.Give(&order, "leadership", func(ctx context.Context, ready func(*kine.Stores)) error {
		return s.leadership(door.Get(), keys.Get()).Run(ctx, opened.Get(), ready)
	})
	history := runner.Give(&order, unitTimeline, func(ctx context.Context, ready func(*timeline.Store)) error {
		return s.runTimeline(ctx, keys.Get(), ready)
	})
	saved := runner.Give(&order, "snapshots", func(ctx context.Context, ready func(*backup.Keeper)) error {
		return s.runSnapshots(ctx, keys.Get(), stores.Get(), history.Get(), ready)
	})
	record := runner.Give(&order, unitAudit, func(ctx context.Context, ready func(*auditlog.Log)) error {
		return s.runAudit(ctx, keys.Get(), ready)
	})
	on := sync.OnceValue(func() *parts {
		return s.parts(ground{
			door: door.Get(), keys: keys.Get(), stores: stores.Get(), timeline: history.Get(), snapshots: saved.Get(), audit: record.Get(),
		})
	})
	api := runner.Give(&order, unitAPIServer, func(ctx context.Context, ready func(*apiserver.Server)) error {
		return s.runAPIServer(ctx, on(), ready)
	})
	name := runner.Give(&order, "first-objects", func(ctx context.Context, ready func(string)) error {
		return s.runFirstObjects(ctx, api.Get(), ready)
	})
	order.Add("kube-controllers", func(ctx context.Context, ready func()) error {
		return s.runKubeControllers(ctx, api.Get(), keys.Get(), ready)
	})
	order.Add("garden-controllers", func(ctx context.Context, ready func()) error {
		return s.runGardenControllers(ctx, on(), api.Get(), ready)
	})
	order.Add("store-health", func(ctx context.Context, ready func()) error {
		return runStoreHealth(ctx, on().health, on().examiner, ready)
	})
	order.Add("certificates", func(ctx context.Context, ready func()) error {
		return on().rotations.Certificates.Run(ctx, ready)
	})
	order.Add("encryption", func(ctx context.Context, ready func()) error {
		return on().rotations.Encryption.Run(ctx, ready)
	})
	order.Add("authorities", func(ctx context.Context, ready func()) error {
		return on().rotations.Authorities.Run(ctx, ready)
	})
	order.Add("announce", func(_ context.Context, ready func()) error {
		return s.announce(door.Get().addresses, keys.Get(), name.Get(), ready)
	})

	return order.Units()
}

// gardenName is the unique name of the garden; empty while it is not known.
func (s *server) gardenName() string {
	if name := s.name.Load(); name != nil {
		return *name
	}

	return ""
}
