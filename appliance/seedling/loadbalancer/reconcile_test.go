// SPDX-License-Identifier: Apache-2.0

package loadbalancer_test

import (
	"errors"
	"net/netip"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/terrarium-garden/terrarium/appliance/seedling/loadbalancer"
)

// machine remembers addresses instead of making them.
type machine map[netip.Addr]bool

func (m machine) functions() loadbalancer.Machine {
	return loadbalancer.Machine{
		Add:    func(a netip.Addr) error { m[a] = true; return nil },
		Remove: func(a netip.Addr) error { delete(m, a); return nil },
		Addresses: func(within netip.Prefix) ([]netip.Addr, error) {
			var found []netip.Addr
			for a := range m {
				if within.Contains(a) {
					found = append(found, a)
				}
			}
			return found, nil
		},
	}
}

func (m machine) list() []string {
	found := []string{}
	for a := range m {
		found = append(found, a.String())
	}
	slices.Sort(found)
	return found
}

// world is a reconciler with all around it: what the informer saw, what the API holds, what the machine has.
type world struct {
	reconciler *loadbalancer.Reconciler
	seen       cache.Indexer
	client     *fake.Clientset
	machine    machine
	events     []string
}

func newWorld(pool string, services ...*corev1.Service) *world {
	w := &world{client: fake.NewClientset(), machine: machine{}, seen: cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})}
	for _, s := range services {
		_ = w.client.Tracker().Add(s)
		_ = w.seen.Add(s)
	}
	w.reconciler = &loadbalancer.Reconciler{
		Client: w.client, Services: corelisters.NewServiceLister(w.seen), Pool: netip.MustParsePrefix(pool), Machine: w.machine.functions(),
		Event: func(s *corev1.Service, _, reason, _ string) { w.events = append(w.events, s.Name+" "+reason) },
	}
	return w
}

// addresses returns the status of each Service as the API has it.
func (w *world) addresses(t *testing.T) map[string]string {
	t.Helper()
	list, err := w.client.CoreV1().Services("ns").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, s := range list.Items {
		for _, ingress := range s.Status.LoadBalancer.Ingress {
			found[s.Name] = ingress.IP
		}
	}
	return found
}

func (w *world) reconcile(t *testing.T) {
	t.Helper()
	if err := w.reconciler.Reconcile(t.Context()); err != nil {
		t.Fatalf("Reconcile() = %v", err)
	}
}

func TestReconcileAssignsAndReleases(t *testing.T) {
	t.Parallel()
	one, two := service("one", 1), service("two", 2)
	w := newWorld("10.99.1.0/24", one)
	w.machine[netip.MustParseAddr("10.99.1.77")] = true // left behind by an earlier life
	w.machine[netip.MustParseAddr("192.0.2.1")] = true  // not of the pool
	w.reconcile(t)
	if diff := cmp.Diff(map[string]string{"one": "10.99.1.1"}, w.addresses(t)); diff != "" {
		t.Errorf("The Service tells its address (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"10.99.1.1", "192.0.2.1"}, w.machine.list()); diff != "" {
		t.Errorf("The machine has exactly the addresses in use, and others are left alone (-want +got):\n%s", diff)
	}

	// The second Service comes before the informer has seen the status of the first.
	_ = w.client.Tracker().Add(two)
	_ = w.seen.Add(two)
	w.reconcile(t)
	if diff := cmp.Diff(map[string]string{"one": "10.99.1.1", "two": "10.99.1.2"}, w.addresses(t)); diff != "" {
		t.Errorf("No address is given twice, however old the informer's view (-want +got):\n%s", diff)
	}

	_ = w.seen.Delete(one)
	w.reconcile(t)
	if diff := cmp.Diff([]string{"10.99.1.2", "192.0.2.1"}, w.machine.list()); diff != "" {
		t.Errorf("The address goes with its Service (-want +got):\n%s", diff)
	}
}

func TestReconcileClearsStatus(t *testing.T) {
	t.Parallel()
	w := newWorld("10.99.1.0/24",
		service("former", 1, holds("10.99.1.1"), ofType(corev1.ServiceTypeClusterIP)),
		service("foreign", 1, holds("192.0.2.1"), ofType(corev1.ServiceTypeClusterIP)),
	)
	w.reconcile(t)
	if diff := cmp.Diff(map[string]string{"foreign": "192.0.2.1"}, w.addresses(t)); diff != "" {
		t.Errorf("A Service that is no load balancer any more loses our address, and only ours (-want +got):\n%s", diff)
	}
}

func TestReconcileTellsWhenExhausted(t *testing.T) {
	t.Parallel()
	w := newWorld("10.99.1.0/30", service("a", 1), service("b", 2), service("c", 3))
	w.reconcile(t)
	if diff := cmp.Diff([]string{"c NoAddress"}, w.events); diff != "" {
		t.Errorf("A Service without a free address gets an event (-want +got):\n%s", diff)
	}
}

func TestReconcileGoesOnAfterFailure(t *testing.T) {
	t.Parallel()
	w := newWorld("10.99.1.0/24", service("a", 1))
	broken := errors.New("no such device")
	w.reconciler.Machine.Add = func(netip.Addr) error { return broken }
	if err := w.reconciler.Reconcile(t.Context()); !errors.Is(err, broken) {
		t.Errorf("What the machine cannot do is an error: Reconcile() = %v", err)
	}
	if diff := cmp.Diff(map[string]string{"a": "10.99.1.1"}, w.addresses(t)); diff != "" {
		t.Errorf("The rest is done nevertheless (-want +got):\n%s", diff)
	}
}
