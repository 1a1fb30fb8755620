// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"time"

	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/scheduler/picture"
)

const controllerName = "scheduler"

// The delays after which a shoot that fits no seed is tried again. Events of seeds do not start an attempt (SCHED-BIND-4).
const (
	firstRetry = 500 * time.Millisecond
	lastRetry  = 30 * time.Second
)

// bindings is how many shoots are in work for each configured worker. Decisions take turns and are quick; a binding takes as long as a creation.
// With one for each worker, many clients would create shoots faster than they are bound.
const bindings = 4

// Reconciler binds shoots to seeds. It reads config maps of region distances around the cache, because a cache of all config
// maps would need too much memory.
type Reconciler struct {
	kit.Base

	// Config is the section of the configuration.
	Config gardenconfigv1alpha1.SchedulerConfiguration
	// Picture is what is known of seeds and their usage.
	Picture *picture.Picture
}

// AddToManager implements kit.Adder. A waiting shoot is scheduled when it is created and when its spec changes. What else happens
// to shoots and seeds only changes the picture.
func (r *Reconciler) AddToManager(clusters kit.Clusters) error {
	if _, err := ParseStrategy(string(r.strategy())); err != nil {
		return err
	}
	queue := kit.Workers(r.Config.ConcurrentSyncs)
	queue.Concurrency *= bindings
	queue.BaseDelay, queue.MaxDelay = firstRetry, lastRetry
	changes := kit.Changed(func(shoot *gardencorev1beta1.Shoot) any { return shoot.Spec })
	changes.DeleteFunc = func(event.DeleteEvent) bool { return false }
	b := r.Controller(clusters, controllerName, queue)
	if r.Picture == nil {
		r.Picture = picture.New(r.Clock)
	}
	b.For(&gardencorev1beta1.Shoot{}, builder.WithPredicates(kit.Matching(Wants), changes)).
		Watches(&gardencorev1beta1.Seed{}, r.Picture.OfSeeds()).
		Watches(&gardencorev1beta1.Shoot{}, r.Picture.OfShoots())
	return kit.Complete(b, controllerName, reconcile.AsReconciler(r.Client, r))
}

func (r *Reconciler) strategy() Strategy {
	return Strategy(r.Config.CandidateDeterminationStrategy)
}

// Wants reports whether the shoot waits for this scheduler: it has no seed, is not being deleted, names no other scheduler and
// is not self-hosted (SCHED-SEL-1, SCHED-SEL-2, SCHED-PROC-4).
func Wants(shoot *gardencorev1beta1.Shoot) bool {
	if shoot.Spec.SeedName != nil || shoot.DeletionTimestamp != nil {
		return false
	}
	if name := shoot.Spec.SchedulerName; name != nil && *name != "" && *name != gardencorev1beta1.DefaultSchedulerName {
		return false
	}
	return !query.SelfHosted(&shoot.Spec)
}
