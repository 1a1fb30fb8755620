// SPDX-License-Identifier: Apache-2.0

package lease

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const controllerName = "lease"

var _ kit.Adder = (*Reconciler)(nil)

// Reconciler beats for one seed.
type Reconciler struct {
	kit.SeedBase

	// Probe asks the API server of the seed whether it is well. It respects the end of its context.
	Probe func(ctx context.Context) error
	// Health is true while the heartbeat goes well. It is required.
	Health *Health
	// Config is the section of the configuration.
	Config *gardenconfigv1alpha1.SeedControllerConfiguration
}

// AddToManager implements kit.Adder.
func (r *Reconciler) AddToManager(clusters kit.Clusters) error {
	probe, err := NewProbe(clusters.Seed.GetConfig())
	if err != nil {
		return err
	}
	r.Probe = probe
	b := r.Controller(clusters, controllerName, kit.Queue{Concurrency: 1, BaseDelay: r.period() / 10, MaxDelay: r.period()}).
		For(&gardencorev1beta1.Seed{}, builder.WithPredicates(r.begins()))
	return kit.Complete(b, controllerName, r)
}

// period is the time between two heartbeats, and the longest one of them may take.
func (r *Reconciler) period() time.Duration {
	return time.Duration(*r.Config.LeaseResyncSeconds) * time.Second
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
