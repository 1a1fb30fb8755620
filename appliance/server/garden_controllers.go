// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/appliance/apiserver"
	"github.com/terrarium-garden/terrarium/controllers/garden"
	"github.com/terrarium-garden/terrarium/controllers/garden/seed/revocation"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// runGardenControllers runs the controllers in one manager on the loopback connection. Only the
// server that leads has controllers, so the manager needs no leader election of its own.
func (s *server) runGardenControllers(ctx context.Context, on *parts, api *apiserver.Server, ready func()) error {
	kinds, err := scheme.New()
	if err != nil {
		return fmt.Errorf("create scheme of the controllers: %w", err)
	}
	if err := kit.PreferProtobuf(); err != nil {
		return err
	}
	options := s.managerOptions(kinds)
	options.Cache.NewInformer = local{api}.newInformer
	mgr, err := manager.New(api.LoopbackConfig(), options)
	if err != nil {
		return fmt.Errorf("create manager: %w", err)
	}
	leaveOut := kit.NewLeaveOut(s.Config.Controllers.Disabled)
	if err := kit.AddAll(kit.Clusters{Garden: mgr, Clock: s.Clock, LeaveOut: leaveOut},
		append(garden.Adders(s.Config), &revocation.Reconciler{Records: api.Revoked()})...); err != nil {
		return err
	}
	if err := leaveOut.Check(); err != nil {
		return fmt.Errorf("disable controllers: %w", err)
	}
	// Without this one, what the API accepts of the Garden would not be done, so it cannot be left out.
	describes, err := s.gardenController(on)
	if err != nil {
		return err
	}
	if err := kit.AddAll(kit.Clusters{Garden: mgr, Clock: s.Clock}, describes); err != nil {
		return err
	}

	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		if err := mgr.Start(ctx); err != nil {
			return fmt.Errorf("run manager: %w", err)
		}

		return nil
	})
	group.Go(func() error {
		select {
		case <-mgr.Elected():
		case <-ctx.Done():
			return nil
		}
		if !mgr.GetCache().WaitForCacheSync(ctx) {
			return nil
		}
		s.live.Store(new(mgr.GetAPIReader()))
		s.revoked.Store(api.Revoked())
		s.reader.Store(new(client.Reader(mgr.GetCache())))
		ready()

		return nil
	})

	return ignoreCancelled(group.Wait())
}

// managerOptions are the options of the manager that need no API server.
func (s *server) managerOptions(kinds *runtime.Scheme) manager.Options {
	return manager.Options{
		Scheme:                  kinds,
		Logger:                  s.Log.WithName("controllers"),
		Metrics:                 metricsserver.Options{BindAddress: "0"},
		HealthProbeBindAddress:  "0",
		GracefulShutdownTimeout: new(grace),
		Cache:                   cache.Options{DefaultTransform: cache.TransformStripManagedFields()},
		Controller:              config.Controller{CacheSyncTimeout: s.Config.Controllers.CacheSyncTimeout.Duration},
	}
}

// local makes informers that read kinds directly from the API server's watch cache, or only the metadata of their objects, not over
// its port.
type local struct{ *apiserver.Server }

func (l local) newInformer(
	remote toolscache.ListerWatcher, kind runtime.Object, resync time.Duration, indexers toolscache.Indexers,
) toolscache.SharedIndexInformer {
	source := l.Source(kind)
	if about, ok := kind.(*metav1.PartialObjectMetadata); ok {
		source = l.MetadataOfKind(about.GroupVersionKind())
	}
	if source == nil {
		source = remote
	}

	return toolscache.NewSharedIndexInformer(source, kind, resync, indexers)
}

func ignoreCancelled(err error) error {
	if errors.Is(err, context.Canceled) {
		return nil
	}

	return err
}
