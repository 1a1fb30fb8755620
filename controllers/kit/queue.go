// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"cmp"
	"time"

	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

const (
	defaultConcurrency = 5
	defaultBaseDelay   = 100 * time.Millisecond
	defaultMaxDelay    = 3 * time.Minute
)

// Queue sets how many objects a controller works on at the same time and how soon it retries. The zero value has defaults:
// 5 workers, and delays from 100 ms, doubled up to 3 minutes.
type Queue struct {
	// Concurrency is the number of objects worked on at the same time.
	Concurrency int
	// PerNamespace is the number of those that are of one namespace, other than garden; 0 sets no bound. The others of the namespace wait,
	// and take no worker meanwhile.
	PerNamespace int
	// Owner says for whom an object counts in PerNamespace, if not for its namespace.
	Owner Owner
	// BaseDelay is the wait after the first failure; each further one doubles it.
	BaseDelay time.Duration
	// MaxDelay bounds that wait.
	MaxDelay time.Duration
}

// Owner knows for whom objects count.
type Owner interface {
	// OwnerOf returns for whom an object counts, and nothing for one that waits for no other one. It is asked when the object is added to the
	// queue, and must not wait.
	OwnerOf(item reconcile.Request) string
}

// Workers is the queue of a controller with that many workers; nil takes the default.
func Workers(concurrentSyncs *int) Queue {
	return Queue{Concurrency: ptr.Deref(concurrentSyncs, 0)}
}

// or fills the unset fields of q from the other queue.
func (q Queue) or(other Queue) Queue {
	return Queue{
		Concurrency:  cmp.Or(q.Concurrency, other.Concurrency),
		PerNamespace: cmp.Or(q.PerNamespace, other.PerNamespace),
		Owner:        cmp.Or(q.Owner, other.Owner),
		BaseDelay:    cmp.Or(q.BaseDelay, other.BaseDelay),
		MaxDelay:     cmp.Or(q.MaxDelay, other.MaxDelay),
	}
}

// Options are the controller options of this queue. Delays pass on the given clock, if it can wake sleepers. Controller names
// may repeat in one process, because tests run several managers in it.
func (q Queue) Options(passing clock.PassiveClock) controller.Options {
	concurrency, base, limit := q.Concurrency, q.BaseDelay, q.MaxDelay
	if concurrency <= 0 {
		concurrency = defaultConcurrency
	}
	if base <= 0 {
		base = defaultBaseDelay
	}
	if limit <= 0 {
		limit = defaultMaxDelay
	}
	return controller.Options{
		MaxConcurrentReconciles: concurrency,
		RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](base, max(base, limit)),
		SkipNameValidation:      new(true),
		NewQueue:                q.on(passing),
	}
}

// on makes queues without priorities: a priority queue can deadlock if it is shut down with items left
// (controller-runtime 0.24.1).
func (q Queue) on(passing clock.PassiveClock) func(string, workqueue.TypedRateLimiter[reconcile.Request]) workqueue.TypedRateLimitingInterface[reconcile.Request] {
	ticking, _ := passing.(clock.WithTicker)
	return func(name string, limiter workqueue.TypedRateLimiter[reconcile.Request]) workqueue.TypedRateLimitingInterface[reconcile.Request] {
		if q.PerNamespace > 0 {
			return newTurnQueue(name, newTurns(q.PerNamespace, q.Owner), limiter, ticking)
		}
		return workqueue.NewTypedRateLimitingQueueWithConfig(limiter, workqueue.TypedRateLimitingQueueConfig[reconcile.Request]{Name: name, Clock: ticking})
	}
}
