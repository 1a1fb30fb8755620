// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"slices"
	"sync"

	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// turns is the store of a queue that gives out a few objects of each owner at a time. The others of the owner wait without a worker, so a
// shoot that answers slowly, or on purpose not at all, holds up nobody but itself.
type turns struct {
	atOnce int
	owner  Owner

	mu sync.Mutex
	// ready are the objects to give out, parked those of owners that have no turn left.
	ready  []reconcile.Request
	parked map[string][]reconcile.Request
	// taken counts the objects of an owner that are ready or given out.
	taken map[string]int
	// of has the owner of each object that has a turn or is parked, as it was when that began.
	of map[reconcile.Request]string
}

func newTurns(atOnce int, owner Owner) *turns {
	if owner == nil {
		owner = namespaces{}
	}
	return &turns{atOnce: atOnce, owner: owner, parked: map[string][]reconcile.Request{}, taken: map[string]int{}, of: map[reconcile.Request]string{}}
}

// namespaces are the owners of their objects. Objects of the namespace garden are about the seed and about no shoot.
type namespaces struct{}

// OwnerOf implements Owner.
func (namespaces) OwnerOf(item reconcile.Request) string {
	if item.Namespace == gardencorev1beta1.NamespaceGarden {
		return ""
	}
	return item.Namespace
}

// Touch implements workqueue.Queue. An object that is added once more while it is parked may need no turn any more.
func (t *turns) Touch(item reconcile.Request) {
	free := t.owner.OwnerOf(item) == ""
	t.mu.Lock()
	defer t.mu.Unlock()
	owner, known := t.of[item]
	i := slices.Index(t.parked[owner], item)
	if !free || !known || i < 0 {
		return
	}
	t.unpark(owner, i)
	delete(t.of, item)
	t.ready = append(t.ready, item)
}

// Push adds an object.
func (t *turns) Push(item reconcile.Request) {
	owner := t.owner.OwnerOf(item)
	t.mu.Lock()
	defer t.mu.Unlock()
	if owner == "" {
		t.ready = append(t.ready, item)
		return
	}
	t.of[item] = owner
	if t.taken[owner] >= t.atOnce {
		t.parked[owner] = append(t.parked[owner], item)
		return
	}
	t.taken[owner]++
	t.ready = append(t.ready, item)
}

// unpark takes an object from those that wait. The caller holds the lock.
func (t *turns) unpark(owner string, i int) {
	if len(t.parked[owner]) == 1 {
		delete(t.parked, owner)
		return
	}
	t.parked[owner] = slices.Delete(t.parked[owner], i, i+1)
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

// end gives the turn of an object to the next one of its owner.
func (t *turns) end(item reconcile.Request) {
	t.mu.Lock()
	defer t.mu.Unlock()
	owner, shared := t.of[item]
	if !shared {
		return
	}
	delete(t.of, item)
	if waiting := t.parked[owner]; len(waiting) > 0 {
		t.ready = append(t.ready, waiting[0])
		t.unpark(owner, 0)
	} else if t.taken[owner]--; t.taken[owner] == 0 {
		delete(t.taken, owner)
	}
}

// turnQueue is a queue that learns from Done which turns have ended.
type turnQueue struct {
	workqueue.TypedRateLimitingInterface[reconcile.Request]

	turns *turns
}

func newTurnQueue(name string, t *turns, limiter workqueue.TypedRateLimiter[reconcile.Request], ticking clock.WithTicker) turnQueue {
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
