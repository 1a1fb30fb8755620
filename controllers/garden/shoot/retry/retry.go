// SPDX-License-Identifier: Apache-2.0

// Package retry retries Shoots that failed because their infrastructure refused too many requests (GCM-RETRY-1). Nobody needs to
// change anything for that: it is enough to wait.
package retry

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const controllerName = "shoot-retry"

// Reconciler retries shoots.
type Reconciler struct {
	kit.Base

	// Config is the section of the configuration.
	Config gardenconfigv1alpha1.ServerShootRetryControllerConfiguration
	// Jitter returns a random time below a limit that is not 0. Defaults to a uniform distribution.
	Jitter func(limit time.Duration) time.Duration

	// future has failures whose time is in the future, by the UID of the shoot.
	future sync.Map
}

// failure is a failure whose time is that of a clock that was wrong.
type failure struct {
	// at is this time, and seen that of the first look at the failure.
	at, seen time.Time
}

// AddToManager implements kit.Adder. Only shoots that are to be retried are enqueued.
func (r *Reconciler) AddToManager(clusters kit.Clusters) error {
	if r.Jitter == nil {
		r.Jitter = rand.N[time.Duration]
	}
	b := r.Controller(clusters, controllerName, kit.Workers(r.Config.ConcurrentSyncs)).
		For(&gardencorev1beta1.Shoot{}, builder.WithPredicates(kit.Matching(Throttled)))
	return kit.Complete(b, controllerName, reconcile.AsReconciler(r.Client, r))
}

// Reconcile asks for a retry once the retry period has passed since the failure. Until then it waits for the rest of the period and
// a random time more.
func (r *Reconciler) Reconcile(ctx context.Context, shoot *gardencorev1beta1.Shoot) (reconcile.Result, error) {
	if !Throttled(shoot) {
		return reconcile.Result{}, nil
	}
	due := r.since(shoot).Add(r.Config.RetryPeriod.Duration)
	if left := due.Sub(r.Clock.Now()); left > 0 {
		wait := kit.Until(left)
		if limit := r.Config.RetryJitterPeriod.Duration; wait == left && limit > 0 {
			wait += r.Jitter(limit)
		}
		return kit.Result(kit.RequeueAfter(wait), nil)
	}
	commit := kit.Begin(r.Client, shoot)
	metav1.SetMetaDataAnnotation(&shoot.ObjectMeta, gardencorev1beta1.AnnotationOperation, gardencorev1beta1.OperationRetry)
	if err := commit.WriteObject(ctx); client.IgnoreNotFound(err) != nil {
		return kit.Result(kit.Stop(), fmt.Errorf("retry shoot: %w", err))
	}
	return reconcile.Result{}, nil
}

// since returns when a shoot has failed. A time in the future is of a clock that was wrong, and the shoot would not be retried until then:
// the time counts at which the failure was first seen.
func (r *Reconciler) since(shoot *gardencorev1beta1.Shoot) time.Time {
	at, now := shoot.Status.LastOperation.LastUpdateTime.Time, r.Clock.Now()
	if !at.After(now) {
		r.future.Delete(shoot.UID)
		return at
	}
	known, _ := r.future.Load(shoot.UID)
	if f, ok := known.(failure); ok && f.at.Equal(at) && !f.seen.After(now) {
		return f.seen
	}
	r.future.Store(shoot.UID, failure{at: at, seen: now})
	return now
}

// Throttled reports whether the last operation on a shoot, in its current generation, failed because of rate limits. A shoot for
// which somebody has asked for an operation is left alone, because the retry would take its place. Only a request to reconcile it does not
// count: it has no effect on a shoot that has failed, and the retry reconciles it.
func Throttled(shoot *gardencorev1beta1.Shoot) bool {
	last := shoot.Status.LastOperation
	limited := func(e gardencorev1beta1.LastError) bool {
		return slices.Contains(e.Codes, gardencorev1beta1.ErrorCodeInfraRateLimitsExceeded)
	}
	other := func(operation string) bool { return operation != gardencorev1beta1.OperationReconcile }
	return last != nil && last.State == gardencorev1beta1.LastOperationStateFailed &&
		shoot.Generation == shoot.Status.ObservedGeneration && slices.ContainsFunc(shoot.Status.LastErrors, limited) &&
		!slices.ContainsFunc(query.Operations(shoot.Annotations[gardencorev1beta1.AnnotationOperation]), other)
}
