// SPDX-License-Identifier: Apache-2.0

package lease

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const controllerName = "lease"

// DefaultPeriod is the time between two heartbeats.
const DefaultPeriod = 2 * time.Second

// Reconciler beats for one seed. Unset fields are filled by AddToManager.
type Reconciler struct {
	// GardenClient reaches the garden; it reads Seeds from the cache.
	GardenClient client.Client
	// Probe asks the API server of the seed whether it is well. It respects the end of its context.
	Probe func(ctx context.Context) error
	// Health is true while the heartbeat goes well. It is required.
	Health *Health
	// SeedName is the name of the seed. It is required.
	SeedName string
	// Period is the time between two heartbeats, and the longest one of them may take.
	Period time.Duration
	// Clock tells the time.
	Clock clock.PassiveClock
}

// AddToManager registers the controller with the manager of the garden.
func (r *Reconciler) AddToManager(mgr manager.Manager, seed cluster.Cluster) error {
	if r.GardenClient == nil {
		r.GardenClient = mgr.GetClient()
	}
	if r.Clock == nil {
		r.Clock = clock.RealClock{}
	}
	if r.Period <= 0 {
		r.Period = DefaultPeriod
	}
	if r.Probe == nil {
		probe, err := NewProbe(seed.GetConfig())
		if err != nil {
			return err
		}
		r.Probe = probe
	}
	err := builder.ControllerManagedBy(mgr).
		Named(controllerName).
		For(&gardencorev1beta1.Seed{}, builder.WithPredicates(r.begins())).
		WithOptions(kit.Queue{Concurrency: 1, BaseDelay: r.Period / 10, MaxDelay: r.Period}.Options()).
		Complete(r)
	if err != nil {
		return fmt.Errorf("add controller %q: %w", controllerName, err)
	}
	return nil
}

// begins lets only the appearance of the own seed start the heartbeat; from then on it keeps itself going.
func (r *Reconciler) begins() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc:  func(e event.CreateEvent) bool { return e.Object.GetName() == r.SeedName },
		UpdateFunc:  func(event.UpdateEvent) bool { return false },
		DeleteFunc:  func(event.DeleteEvent) bool { return false },
		GenericFunc: func(event.GenericEvent) bool { return false },
	}
}

// NewProbe returns a function that asks an API server for /healthz. Only status 200 is success (GLET-LEASE-1).
func NewProbe(config *rest.Config) (func(ctx context.Context) error, error) {
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("build client for the health of the seed: %w", err)
	}
	return func(ctx context.Context) error {
		status := 0
		err := clients.Discovery().RESTClient().Get().AbsPath("/healthz").Do(ctx).StatusCode(&status).Error()
		if err != nil {
			return fmt.Errorf("ask the seed's API server for /healthz: %w", err)
		}
		if status != http.StatusOK {
			return fmt.Errorf("ask the seed's API server for /healthz: got status %d", status)
		}
		return nil
	}, nil
}
