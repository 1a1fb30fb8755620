// SPDX-License-Identifier: Apache-2.0

package care

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/shoot"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const (
	controllerName     = "shoot-care"
	defaultSyncPeriod  = time.Minute
	defaultConcurrency = 20
)

// Reconciler checks the shoots of a seed. Unset fields are filled by AddToManager.
type Reconciler struct {
	// GardenClient reaches the garden, GardenReader reads from it around the cache.
	GardenClient client.Client
	GardenReader client.Reader
	// SeedClient reaches the seed around any cache.
	SeedClient client.Client
	// ShootClient makes a client of a shoot from a kubeconfig, Healthz asks its API server whether it is well and returns the
	// status of the answer.
	ShootClient func(kubeconfig []byte) (client.Client, error)
	Healthz     func(ctx context.Context, kubeconfig []byte) (int, error)
	// Clock tells the time.
	Clock clock.Clock
	// SeedName is the name of the seed. It is required.
	SeedName string
	// Config is how the controller works; nil takes the defaults.
	Config *gardenconfigv1alpha1.ShootCareControllerConfiguration
	// Spread picks a moment within a period for the first check after a start, so that not every shoot is checked at once.
	Spread func(period time.Duration) time.Duration
}

// AddToManager registers the controller with the manager of the garden.
func (r *Reconciler) AddToManager(mgr manager.Manager, seed cluster.Cluster) error {
	if err := r.complete(mgr, seed); err != nil {
		return fmt.Errorf("add controller %q: %w", controllerName, err)
	}
	concurrency := defaultConcurrency
	if r.Config.ConcurrentSyncs != nil {
		concurrency = *r.Config.ConcurrentSyncs
	}
	err := builder.ControllerManagedBy(mgr).
		Named(controllerName).
		Watches(&gardencorev1beta1.Shoot{}, r.enqueue()).
		WithOptions(kit.Queue{Concurrency: concurrency, MaxDelay: r.syncPeriod()}.Options()).
		Complete(r)
	if err != nil {
		return fmt.Errorf("add controller %q: %w", controllerName, err)
	}
	return nil
}

func (r *Reconciler) complete(mgr manager.Manager, seed cluster.Cluster) error {
	if r.GardenClient == nil {
		r.GardenClient = mgr.GetClient()
	}
	if r.GardenReader == nil {
		r.GardenReader = mgr.GetAPIReader()
	}
	if r.SeedClient == nil {
		direct, err := client.New(seed.GetConfig(), client.Options{Scheme: seed.GetScheme(), Mapper: seed.GetRESTMapper(), HTTPClient: seed.GetHTTPClient()})
		if err != nil {
			return fmt.Errorf("build client of the seed: %w", err)
		}
		r.SeedClient = direct
	}
	if r.ShootClient == nil {
		r.ShootClient = shoot.NewShootClient(seed.GetScheme())
	}
	if r.Healthz == nil {
		r.Healthz = Healthz
	}
	if r.Clock == nil {
		r.Clock = clock.RealClock{}
	}
	if r.Config == nil {
		r.Config = &gardenconfigv1alpha1.ShootCareControllerConfiguration{}
	}
	if r.Spread == nil {
		r.Spread = func(period time.Duration) time.Duration { return rand.N(period) } //nolint:gosec // no secret
	}
	return nil
}

// enqueue checks a shoot that is new at once and those of a start spread over a period; then again whenever an operation has
// ended well or a seed was given. Everything else is periodic.
func (r *Reconciler) enqueue() handler.EventHandler {
	request := func(object client.Object) reconcile.Request {
		return reconcile.Request{NamespacedName: client.ObjectKeyFromObject(object)}
	}
	return handler.Funcs{
		CreateFunc: func(_ context.Context, e event.CreateEvent, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			s, ok := e.Object.(*gardencorev1beta1.Shoot)
			switch {
			case !ok || !r.mine(s):
			case s.Status.ObservedGeneration == s.Generation:
				queue.AddAfter(request(s), r.Spread(r.syncPeriod()))
			default:
				queue.Add(request(s))
			}
		},
		UpdateFunc: func(_ context.Context, e event.UpdateEvent, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			before, ok := e.ObjectOld.(*gardencorev1beta1.Shoot)
			after, okToo := e.ObjectNew.(*gardencorev1beta1.Shoot)
			if !ok || !okToo || !r.mine(after) {
				return
			}
			if !r.mine(before) || (succeeded(after) && !succeeded(before)) {
				queue.Add(request(after))
			}
		},
	}
}

func (r *Reconciler) mine(s *gardencorev1beta1.Shoot) bool {
	return shoot.Responsible(s) == r.SeedName
}

func succeeded(s *gardencorev1beta1.Shoot) bool {
	return s.Status.LastOperation != nil && s.Status.LastOperation.State == gardencorev1beta1.LastOperationStateSucceeded
}

func (r *Reconciler) syncPeriod() time.Duration {
	if r.Config.SyncPeriod == nil || r.Config.SyncPeriod.Duration <= 0 {
		return defaultSyncPeriod
	}
	return r.Config.SyncPeriod.Duration
}

func (r *Reconciler) threshold(kind gardencorev1beta1.ConditionType) time.Duration {
	for _, t := range r.Config.ConditionThresholds {
		if t.Type == string(kind) {
			return t.Duration.Duration
		}
	}
	return 0
}
