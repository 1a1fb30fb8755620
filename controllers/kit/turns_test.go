// SPDX-License-Identifier: Apache-2.0

package kit_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/terrarium-garden/terrarium/controllers/kit"
)

type requests = workqueue.TypedRateLimitingInterface[reconcile.Request]

// turnsOf2 is a queue with two turns for each namespace.
func turnsOf2(t *testing.T) requests {
	t.Helper()
	options := kit.Queue{PerNamespace: 2}.Options(clock.RealClock{})
	q := options.NewQueue("", options.RateLimiter)
	t.Cleanup(q.ShutDown)
	return q
}

func add(q requests, objects ...string) {
	for _, object := range objects {
		q.Add(requestOf(object))
	}
}

func requestOf(object string) reconcile.Request {
	namespace, name, _ := strings.Cut(object, "/")
	return reconcile.Request{NamespacedName: client.ObjectKey{Namespace: namespace, Name: name}}
}

// take takes all objects that can be had now.
func take(q requests) []string {
	var taken []string
	for q.Len() > 0 {
		item, _ := q.Get()
		taken = append(taken, item.String())
	}
	return taken
}

// TestPerNamespace: a namespace whose objects take long has two workers at most, and all of its objects have their turn.
func TestPerNamespace(t *testing.T) {
	t.Parallel()
	q := turnsOf2(t)
	add(q, "slow/1", "slow/2", "slow/3", "slow/4", "slow/5", "quick/1", "garden/1", "garden/2", "garden/3")
	want := func(reason string, want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, take(q)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", reason, diff)
		}
	}
	want("two of a namespace, all of the garden", "slow/1", "slow/2", "quick/1", "garden/1", "garden/2", "garden/3")
	add(q, "slow/1", "slow/6", "slow/3", "garden/1")
	want("no turn is free")
	q.Done(requestOf("quick/1"))
	q.Done(requestOf("garden/1"))
	want("another namespace gives none away", "garden/1")
	q.Done(requestOf("slow/1"))
	want("the next one in line", "slow/3")
	q.Done(requestOf("slow/2"))
	q.Done(requestOf("slow/3"))
	want("and so on", "slow/4", "slow/5")
	q.Done(requestOf("slow/4"))
	want("one that was added later", "slow/6")
	q.Done(requestOf("slow/5"))
	want("what has changed while it was worked on", "slow/1")
	q.Done(requestOf("slow/6"))
	q.Done(requestOf("slow/1"))
	want("all have had their turn")
	add(q, "slow/1", "slow/2", "slow/3")
	want("and it begins anew", "slow/1", "slow/2")
}

// TestTurnsAreNotLost has workers take turns at the same time.
func TestTurnsAreNotLost(t *testing.T) {
	t.Parallel()
	q := turnsOf2(t)
	const objects, rounds = 30, 20
	var workers, done sync.WaitGroup
	var mu sync.Mutex
	running, most := map[string]int{}, 0
	left := map[reconcile.Request]int{}
	count := func(namespace string, by int) {
		mu.Lock()
		defer mu.Unlock()
		running[namespace] += by
		most = max(most, running[namespace])
	}
	again := func(item reconcile.Request) bool {
		mu.Lock()
		defer mu.Unlock()
		left[item]--
		return left[item] > 0
	}
	for i := range objects {
		left[requestOf(fmt.Sprintf("shoot-%d/%d", i%3, i))] = rounds
	}
	done.Add(objects * rounds)
	for item := range left {
		q.Add(item)
	}
	for range 8 {
		workers.Go(func() {
			for item, end := q.Get(); !end; item, end = q.Get() {
				count(item.Namespace, 1)
				if again(item) {
					q.Add(item)
				}
				count(item.Namespace, -1)
				q.Done(item)
				done.Done()
			}
		})
	}
	all := make(chan struct{})
	go func() { done.Wait(); close(all) }()
	select {
	case <-all:
	case <-time.After(time.Minute):
		t.Fatalf("objects wait for ever: %v", left)
	}
	q.ShutDown()
	workers.Wait()
	if most > 2 {
		t.Errorf("%d objects of a namespace were worked on at the same time", most)
	}
}
