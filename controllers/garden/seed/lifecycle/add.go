// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"time"

	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const controllerName = "seed-lifecycle"

const (
	defaultSyncPeriod         = 10 * time.Second
	defaultMonitorPeriod      = 40 * time.Second
	defaultShootMonitorPeriod = 5 * defaultMonitorPeriod
)

var _ kit.Adder = (*Reconciler)(nil)

// Reconciler watches the heartbeats of gardenlets. Unset fields are filled by AddToManager.
type Reconciler struct {
	// Client reaches the garden through the cache.
	Client client.Client
	// Reader reads leases past the cache, so that nothing has to watch objects that change every two seconds.
	Reader client.Reader
	// Clock tells the time of the judgement.
	Clock clock.PassiveClock
	// SyncPeriod is how often each seed is looked at.
	SyncPeriod time.Duration
	// MonitorPeriod is how long a gardenlet may be silent.
	MonitorPeriod time.Duration
	// ShootMonitorPeriod is how long GardenletReady may be bad before the shoots of the seed are called unknown.
	ShootMonitorPeriod time.Duration
	// Queue bounds the work.
	Queue kit.Queue
}

// AddToManager implements kit.Adder.
func (r *Reconciler) AddToManager(mgr manager.Manager) error {
	if r.Client == nil {
		r.Client = mgr.GetClient()
	}
	if r.Reader == nil {
		r.Reader = mgr.GetAPIReader()
	}
	if r.Clock == nil {
		r.Clock = clock.RealClock{}
	}
	if r.SyncPeriod <= 0 {
		r.SyncPeriod = defaultSyncPeriod
	}
	if r.MonitorPeriod <= 0 {
		r.MonitorPeriod = defaultMonitorPeriod
	}
	if r.ShootMonitorPeriod <= 0 {
		r.ShootMonitorPeriod = defaultShootMonitorPeriod
	}
	err := builder.ControllerManagedBy(mgr).
		Named(controllerName).
		For(&gardencorev1beta1.Seed{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		WithOptions(r.Queue.Options()).
		Complete(r)
	if err != nil {
		return fmt.Errorf("add controller %q: %w", controllerName, err)
	}
	return nil
}
