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
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/garden"
	"github.com/terrarium-garden/terrarium/controllers/garden/cloudprofile"
	"github.com/terrarium-garden/terrarium/controllers/garden/controllerdeployment"
	"github.com/terrarium-garden/terrarium/controllers/garden/controllerregistration"
	"github.com/terrarium-garden/terrarium/controllers/garden/csr"
	"github.com/terrarium-garden/terrarium/controllers/garden/inuse"
	"github.com/terrarium-garden/terrarium/controllers/garden/project"
	"github.com/terrarium-garden/terrarium/controllers/garden/secretbinding"
	"github.com/terrarium-garden/terrarium/controllers/garden/seed/extensions"
	"github.com/terrarium-garden/terrarium/controllers/garden/seed/lifecycle"
	"github.com/terrarium-garden/terrarium/controllers/garden/seed/namespace"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/scheduler"
)

// gardenControllers lists the controllers of a garden and its scheduler, each at the pace that the configuration sets.
func gardenControllers(c *gardenconfigv1alpha1.ServerConfiguration, clk clock.PassiveClock) []kit.Adder {
	seed := c.Controllers.Seed
	adders := garden.Adders(garden.Options{
		Clock:              clk,
		SeedSyncPeriod:     period(seed.SyncPeriod),
		SeedMonitorPeriod:  period(seed.MonitorPeriod),
		ShootMonitorPeriod: period(seed.ShootMonitorPeriod),
	})
	for _, adder := range adders {
		setPace(adder, c.Controllers)
	}

	return append(adders, &scheduler.Reconciler{
		Clock:    clk,
		Strategy: scheduler.Strategy(c.Scheduler.CandidateDeterminationStrategy),
		Queue:    queue(c.Scheduler.ConcurrentSyncs),
	})
}

// setPace sets the number of workers where the configuration names one; other controllers keep their own.
func setPace(adder kit.Adder, c gardenconfigv1alpha1.ServerControllerConfiguration) {
	switch r := adder.(type) {
	case *csr.Reconciler:
		r.Queue = queue(c.CertificateSigningRequest.ConcurrentSyncs)
	case *project.Reconciler:
		r.Queue = queue(c.Project.ConcurrentSyncs)
	case *controllerregistration.Reconciler:
		r.Queue = queue(c.ControllerRegistration.ConcurrentSyncs)
	case *namespace.Reconciler:
		r.Queue = queue(c.Seed.ConcurrentSyncs)
	case *lifecycle.Reconciler:
		r.Queue = queue(c.Seed.ConcurrentSyncs)
	case *extensions.Reconciler:
		r.Queue = queue(c.Seed.ConcurrentSyncs)
	case *inuse.Reconciler:
		r.Queue = queue(map[string]*int{
			cloudprofile.Protection().Name:               c.CloudProfile.ConcurrentSyncs,
			secretbinding.Protection().Name:              c.SecretBinding.ConcurrentSyncs,
			controllerdeployment.Protection().Name:       c.ControllerDeployment.ConcurrentSyncs,
			controllerregistration.Protection().Name:     c.ControllerRegistration.ConcurrentSyncs,
			controllerregistration.SeedProtection().Name: c.Seed.ConcurrentSyncs,
		}[r.Protection.Name])
	}
}

func queue(workers *int) kit.Queue {
	if workers == nil {
		return kit.Queue{}
	}

	return kit.Queue{Concurrency: *workers}
}

// period is zero, which means a controller's own default, where none is set.
func period(d *metav1.Duration) time.Duration {
	if d == nil {
		return 0
	}

	return d.Duration
}

// runGardenControllers runs all of them in one manager on the loopback connection. There is one garden for a data
// directory, so nobody has to be elected.
func (s *server) runGardenControllers(ctx context.Context, ready func()) error {
	kinds, err := scheme.New()
	if err != nil {
		return fmt.Errorf("make scheme of the controllers: %w", err)
	}
	if err := kit.PreferProtobuf(); err != nil {
		return err
	}
	mgr, err := manager.New(s.loopback, manager.Options{
		Scheme:                  kinds,
		Logger:                  s.Log.WithName("controllers"),
		Metrics:                 metricsserver.Options{BindAddress: "0"},
		HealthProbeBindAddress:  "0",
		GracefulShutdownTimeout: new(grace),
		// A queue with priorities can wait for itself when it is shut down with work left (controller-runtime 0.24.1).
		Controller: config.Controller{UsePriorityQueue: new(false)},
		Cache: cache.Options{
			DefaultTransform: cache.TransformStripManagedFields(),
			NewInformer:      s.newInformer,
		},
	})
	if err != nil {
		return fmt.Errorf("make manager: %w", err)
	}
	for _, controller := range gardenControllers(s.Config, s.Clock) {
		if err := controller.AddToManager(mgr); err != nil {
			return err
		}
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
		ready()

		return nil
	})

	return ignoreCancelled(group.Wait())
}

// newInformer lets controllers see kinds of the garden as the API server does, without the detour over its port.
func (s *server) newInformer(
	remote toolscache.ListerWatcher, kind runtime.Object, resync time.Duration, indexers toolscache.Indexers,
) toolscache.SharedIndexInformer {
	if local := s.api.Source(kind); local != nil {
		return toolscache.NewSharedIndexInformer(local, kind, resync, indexers)
	}

	return toolscache.NewSharedIndexInformer(remote, kind, resync, indexers)
}

func ignoreCancelled(err error) error {
	if errors.Is(err, context.Canceled) {
		return nil
	}

	return err
}
