// SPDX-License-Identifier: Apache-2.0

package plant_test

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/garden/plant"
)

type requests = workqueue.TypedRateLimitingInterface[reconcile.Request]

// queueOf is the queue of a controller with five workers, which give two of them to each user.
func queueOf(t *testing.T, r *plant.Reconciler) requests {
	t.Helper()
	r.Config = gardenconfigv1alpha1.ServerPlantControllerConfiguration{SyncPeriod: &metav1.Duration{Duration: time.Hour}}
	r.Config.ConcurrentSyncs = new(5)
	options := r.Queue().Options(clock.RealClock{})
	q := options.NewQueue("", options.RateLimiter)
	t.Cleanup(q.ShutDown)
	return q
}

func projectOf(name, creator string, createdFor ...string) *gardencorev1beta1.Project {
	p := &gardencorev1beta1.Project{ObjectMeta: metav1.ObjectMeta{Name: name}}
	p.Spec.Namespace, p.Spec.CreatedBy = new("garden-"+name), &rbacv1.Subject{Kind: rbacv1.UserKind, Name: creator}
	for _, person := range createdFor {
		p.Annotations = map[string]string{"project.terrarium.garden/created-for": person}
	}
	return p
}

func plantIn(project, name string) *gardencorev1beta1.Plant {
	p := planted(name, "access")
	p.Namespace = "garden-" + project
	return p
}

func takeAll(q requests) (taken []string) {
	for q.Len() > 0 {
		item, _ := q.Get()
		taken = append(taken, strings.TrimPrefix(item.String(), "garden-"))
	}
	return taken
}

func done(q requests, plants ...string) {
	for _, of := range plants {
		namespace, name, _ := strings.Cut("garden-"+of, "/")
		q.Done(reconcile.Request{NamespacedName: client.ObjectKey{Namespace: namespace, Name: name}})
	}
}

// TestShares gives a user with many projects no more workers than one with a single one, and each plant its turn.
func TestShares(t *testing.T) {
	t.Parallel()
	r := &plant.Reconciler{}
	q := queueOf(t, r)
	for _, p := range []*gardencorev1beta1.Project{
		projectOf("x", "mallory"), projectOf("y", "system:serviceaccount:garden-x:robot", "mallory"), projectOf("z", "mallory"),
		projectOf("dev", "rose"), projectOf("team-a", "automation", "system:serviceaccounts"), projectOf("team-b", "automation", "system:serviceaccounts"),
	} {
		r.Projects().Create(t.Context(), event.CreateEvent{Object: p}, q)
	}
	add := func(plants ...string) {
		for _, of := range plants {
			project, name, _ := strings.Cut(of, "/")
			r.Plants().Create(t.Context(), event.CreateEvent{Object: plantIn(project, name)}, q)
		}
	}
	want := func(reason string, want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, takeAll(q)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", reason, diff)
		}
	}
	add("x/1", "y/1", "z/1", "z/2", "z/3", "dev/1", "team-a/1", "team-a/2", "team-b/1", "unknown/1")
	want("all projects of a user, and of the accounts in them, have two workers", "x/1", "y/1", "dev/1", "team-a/1", "team-a/2", "team-b/1", "unknown/1")
	done(q, "dev/1", "team-a/1")
	want("others leave theirs to nobody")
	done(q, "y/1")
	want("the next in line has its turn", "z/1")
	going := plantIn("z", "3")
	going.DeletionTimestamp = &metav1.Time{Time: time.Now()}
	r.Plants().Update(t.Context(), event.UpdateEvent{ObjectOld: plantIn("z", "3"), ObjectNew: going}, q)
	want("a plant in deletion waits for no other", "z/3")
	done(q, "x/1")
	want("and takes the turn of none", "z/2")
	done(q, "z/3")
	r.Plants().Delete(t.Context(), event.DeleteEvent{Object: going}, q)
	add("z/3")
	want("a new one of its name waits again")
}

// TestWorkersForOthers has a user fill the queue with plants in all his projects whose clusters do not answer, while the plant of another user
// waits for a worker.
func TestWorkersForOthers(t *testing.T) {
	t.Parallel()
	c := grow(t)
	var hanging atomic.Int64
	c.answer("/slow/healthz", never)
	slow := c.kubeconfig(t, func(to *api.Cluster, _ *api.AuthInfo) { to.Server += "/slow" })
	objects := []client.Object{planted("mine", "access"), holding("access", c.kubeconfig(t))}
	for i := range 4 {
		for j := range 2 {
			p, secret := plantIn(fmt.Sprint("m", i), fmt.Sprint("p", j)), holding("access", slow)
			secret.Namespace, secret.Name, p.Spec.SecretRef.Name = p.Namespace, p.Name, p.Name
			objects = append(objects, p, secret)
		}
	}
	g := start(t, c, objects...)
	g.reconciler.Limits = plant.Limits{Call: time.Hour, Look: time.Hour, Page: 64 << 10}
	q := queueOf(t, g.reconciler)
	for i := range 4 {
		g.reconciler.Projects().Create(t.Context(), event.CreateEvent{Object: projectOf(fmt.Sprint("m", i), "mallory")}, q)
	}
	for _, object := range append(objects[2:], objects[0]) {
		if p, ok := object.(*gardencorev1beta1.Plant); ok {
			g.reconciler.Plants().Create(t.Context(), event.CreateEvent{Object: p}, q)
		}
	}
	looked := make(chan reconcile.Request, len(objects))
	var workers sync.WaitGroup
	// The looks end with the test's context, which ends before cleanups run.
	t.Cleanup(func() { q.ShutDown(); workers.Wait() })
	for range 5 {
		workers.Go(func() {
			for item, end := q.Get(); !end; item, end = q.Get() {
				hanging.Add(1)
				_, err := reconcile.AsReconciler(g.Client, g.reconciler).Reconcile(t.Context(), item)
				if err == nil {
					looked <- item
				}
				q.Done(item)
			}
		})
	}
	select {
	case item := <-looked:
		if item.Namespace != "garden-dev" {
			t.Errorf("%s was looked at first, whose cluster does not answer", item)
		}
	case <-time.After(time.Minute):
		t.Fatalf("%d plants of one user, whose clusters do not answer, have all workers", hanging.Load())
	}
	if got := told(g.plant("mine"))["APIServerAvailable"]; !strings.HasPrefix(got, "True") {
		t.Errorf("the plant of another user says %q", got)
	}
}
