// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/garden/csr"
	"github.com/terrarium-garden/terrarium/controllers/garden/project"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/scheduler"
)

// gardenControllers lists the controllers of a garden and its scheduler. A new one is one line.
func gardenControllers(c *gardenconfigv1alpha1.ServerConfiguration) []kit.Adder {
	return []kit.Adder{
		&csr.Reconciler{Queue: queue(c.Controllers.CertificateSigningRequest.ConcurrentSyncs)},
		&project.Reconciler{Queue: queue(c.Controllers.Project.ConcurrentSyncs)},
		&scheduler.Reconciler{
			Strategy: scheduler.Strategy(c.Scheduler.CandidateDeterminationStrategy),
			Queue:    queue(c.Scheduler.ConcurrentSyncs),
		},
	}
}

func queue(workers *int) kit.Queue {
	if workers == nil {
		return kit.Queue{}
	}

	return kit.Queue{Concurrency: *workers}
}

// runGardenControllers runs all of them in one manager on the loopback connection. There is one garden for a data
// directory, so nobody has to be elected.
func (s *server) runGardenControllers(ctx context.Context, ready func()) error {
	kinds, err := scheme.New()
	if err != nil {
		return fmt.Errorf("make scheme of the controllers: %w", err)
	}
	mgr, err := manager.New(s.loopback, manager.Options{
		Scheme:                  kinds,
		Logger:                  s.Log.WithName("controllers"),
		Metrics:                 metricsserver.Options{BindAddress: "0"},
		HealthProbeBindAddress:  "0",
		GracefulShutdownTimeout: new(grace),
		Cache:                   cache.Options{DefaultTransform: cache.TransformStripManagedFields()},
	})
	if err != nil {
		return fmt.Errorf("make manager: %w", err)
	}
	for _, controller := range gardenControllers(s.Config) {
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

func ignoreCancelled(err error) error {
	if errors.Is(err, context.Canceled) {
		return nil
	}

	return err
}
