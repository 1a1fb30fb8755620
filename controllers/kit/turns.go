// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"sync"

	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// turns is the store of a queue that gives out a few objects of each namespace at a time. The others of the namespace wait without a worker,
// so a shoot that answers slowly, or on purpose not at all, holds up nobody but itself.
type turns struct {
	atOnce int

	mu sync.Mutex
	// ready are the objects to give out, parked those of namespaces that have no turn left.
	ready  []reconcile.Request
	parked map[string][]reconcile.Request
	// taken counts the objects of a namespace that are ready or given out.
	taken map[string]int
}

func newTurns(atOnce int) *turns {
	return &turns{atOnce: atOnce, parked: map[string][]reconcile.Request{}, taken: map[string]int{}}
}

// shared reports whether an object needs a turn. Those of the namespace garden are about the seed and about no shoot.
func (t *turns) shared(item reconcile.Request) bool {
	return item.Namespace != gardencorev1beta1.NamespaceGarden
}

// Touch implements workqueue.Queue.
func (t *turns) Touch(reconcile.Request) {}

// Push adds an object.
func (t *turns) Push(item reconcile.Request) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.shared(item) {
		t.ready = append(t.ready, item)
		return
	}
	if t.taken[item.Namespace] >= t.atOnce {
		t.parked[item.Namespace] = append(t.parked[item.Namespace], item)
		return
	}
	t.taken[item.Namespace]++
	t.ready = append(t.ready, item)
}

// Len is the number of objects that can be given out.
func (t *turns) Len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.ready)
}

// Pop gives out an object.
func (t *turns) Pop() reconcile.Request {
	t.mu.Lock()
	defer t.mu.Unlock()
	item := t.ready[0]
	t.ready[0] = reconcile.Request{}
	t.ready = t.ready[1:]
	return item
}

// end gives the turn of an object to the next one of its namespace.
func (t *turns) end(item reconcile.Request) {
	if !t.shared(item) {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	waiting := t.parked[item.Namespace]
	if len(waiting) > 0 {
		t.ready = append(t.ready, waiting[0])
		t.parked[item.Namespace] = waiting[1:]
	} else if t.taken[item.Namespace]--; t.taken[item.Namespace] == 0 {
		delete(t.taken, item.Namespace)
	}
	if len(waiting) <= 1 {
		delete(t.parked, item.Namespace)
	}
}

// turnQueue is a queue that learns from Done which turns have ended.
type turnQueue struct {
	workqueue.TypedRateLimitingInterface[reconcile.Request]

	turns *turns
}

func newTurnQueue(name string, atOnce int, limiter workqueue.TypedRateLimiter[reconcile.Request], ticking clock.WithTicker) turnQueue {
	t := newTurns(atOnce)
	plain := workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[reconcile.Request]{Name: name, Clock: ticking, Queue: t})
	delaying := workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[reconcile.Request]{Name: name, Clock: ticking, Queue: plain})
	return turnQueue{
		TypedRateLimitingInterface: workqueue.NewTypedRateLimitingQueueWithConfig(limiter, workqueue.TypedRateLimitingQueueConfig[reconcile.Request]{
			Name: name, Clock: ticking, DelayingQueue: delaying,
		}),
		turns: t,
	}
}

// Done ends the turn of an object. Nobody else has to be woken up for the next one: a worker that is done asks for another object.
func (q turnQueue) Done(item reconcile.Request) {
	q.turns.end(item)
	q.TypedRateLimitingInterface.Done(item)
}
