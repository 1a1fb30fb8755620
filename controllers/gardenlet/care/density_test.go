// SPDX-License-Identifier: Apache-2.0

package care_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/care"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/tests/hollow"
)

// dense is the number of shoots on one gardenlet.
const dense = 100

// bed is a gardenlet with many shoots.
type bed struct {
	*care.Reconciler

	garden, seed client.Client
	shoots       []*gardencorev1beta1.Shoot
}

// newBed plants a healthy shoot for each kubeconfig.
func newBed(tb testing.TB, kubeconfigs [][]byte) *bed {
	tb.Helper()
	types, err := scheme.New()
	if err != nil {
		tb.Fatal(err)
	}
	b := &bed{}
	var inGarden, inSeed []client.Object
	for i, kubeconfig := range kubeconfigs {
		s := shoot(func(s *gardencorev1beta1.Shoot) {
			s.Name = fmt.Sprintf("s%d", i)
			s.Status.TechnicalID = "shoot--dev--" + s.Name
		})
		b.shoots, inGarden = append(b.shoots, s), append(inGarden, s)
		inSeed = append(inSeed, controlPlaneOf(s, kubeconfig)...)
	}
	b.garden = fake.NewClientBuilder().WithScheme(types).WithObjects(inGarden...).WithStatusSubresource(inGarden...).Build()
	b.seed = fake.NewClientBuilder().WithScheme(types).WithObjects(inSeed...).Build()
	b.Reconciler = &care.Reconciler{
		SeedBase: kit.SeedBase{
			GardenClient: b.garden, GardenReader: b.garden, SeedClient: b.seed, SeedName: "eu-1", Clock: clock.RealClock{},
			Shoots: &kit.Shoots{Seed: b.seed, Scheme: types},
		},
		Config: &gardenconfigv1alpha1.ShootCareControllerConfiguration{SyncPeriod: &metav1.Duration{Duration: time.Minute}},
	}
	return b
}

func controlPlaneOf(s *gardencorev1beta1.Shoot, kubeconfig []byte) []client.Object {
	objs := []client.Object{&corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.Status.TechnicalID, Name: "gardener"}, Data: map[string][]byte{"kubeconfig": kubeconfig},
	}}
	w := healthy()
	for i := range w.Deployments {
		objs = append(objs, &w.Deployments[i])
	}
	for i := range w.StatefulSets {
		objs = append(objs, &w.StatefulSets[i])
	}
	for _, obj := range objs {
		obj.SetNamespace(s.Status.TechnicalID)
	}
	return objs
}

// round checks every shoot once, twenty at a time, as the controller does.
func (b *bed) round(tb testing.TB) {
	tb.Helper()
	group, ctx := errgroup.WithContext(tb.Context())
	group.SetLimit(20)
	for _, s := range b.shoots {
		group.Go(func() error {
			_, err := b.Reconcile(ctx, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(s)})
			return err
		})
	}
	if err := group.Wait(); err != nil {
		tb.Fatal(err)
	}
}

// unhealthy counts the conditions that are not True.
func (b *bed) unhealthy(t *testing.T) int {
	t.Helper()
	shoots := &gardencorev1beta1.ShootList{}
	if err := b.garden.List(t.Context(), shoots); err != nil {
		t.Fatal(err)
	}
	unhealthy := 0
	for i := range shoots.Items {
		for _, c := range shoots.Items[i].Status.Conditions {
			if c.Status != gardencorev1beta1.ConditionTrue {
				unhealthy++
			}
		}
		unhealthy += 5 - len(shoots.Items[i].Status.Conditions)
	}
	return unhealthy
}

// startHollow runs the API servers of that many shoots, each with one node that is ready.
func startHollow(number int) ([]*hollow.Server, [][]byte, error) {
	var servers []*hollow.Server
	var kubeconfigs [][]byte
	for range number {
		server, err := hollow.Start("token", node(corev1.ConditionTrue))
		if err != nil {
			return servers, nil, err
		}
		servers = append(servers, server)
		kubeconfig, err := server.Kubeconfig("token")
		if err != nil {
			return servers, nil, err
		}
		kubeconfigs = append(kubeconfigs, kubeconfig)
	}
	return servers, kubeconfigs, nil
}

func total(servers []*hollow.Server) hollow.Counts {
	sum := hollow.Counts{}
	for _, server := range servers {
		sum = sum.Add(server.Counts())
	}
	return sum
}

// TestDensity shows what a hundred shoots cost: one connection and one discovery each, once. A round of checks after the
// first asks each shoot for its health, nodes, webhooks, definitions, pods of kube-system and an answer through its tunnel and does nothing
// else, and the connection of a shoot that leaves is closed.
func TestDensity(t *testing.T) {
	t.Parallel()
	servers, kubeconfigs, err := startHollow(dense)
	t.Cleanup(func() {
		for _, server := range servers {
			server.Close()
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	b := newBed(t, kubeconfigs)
	b.round(t)
	first := total(servers)
	if diff := cmp.Diff(hollow.Counts{Connections: dense, Open: dense, Requests: 10 * dense, Discoveries: 2 * dense}, first); diff != "" {
		t.Errorf("the first round (-want +got):\n%s", diff)
	}
	for range 2 {
		before := total(servers)
		begin := time.Now()
		b.round(t)
		t.Logf("a round with %d shoots took %s", dense, time.Since(begin))
		if diff := cmp.Diff(hollow.Counts{Requests: 8 * dense}, total(servers).Since(before)); diff != "" {
			t.Errorf("a further round (-want +got):\n%s", diff)
		}
	}
	if got := b.unhealthy(t); got != 0 {
		t.Errorf("%d conditions of healthy shoots are not True", got)
	}

	b.leave(t)
	for i, server := range servers {
		if err := server.AwaitOpen(t.Context(), 0); err != nil {
			t.Errorf("shoot %d has left: %v", i, err)
		}
	}
	if got := b.Shoots.Len(); got != 0 {
		t.Errorf("%d clients are kept of shoots that have left", got)
	}
}

// leave deletes a third of the shoots, moves a third to another seed, and hibernates a third.
func (b *bed) leave(t *testing.T) {
	t.Helper()
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	defer queue.ShutDown()
	for i, s := range b.shoots {
		switch i % 3 {
		case 0:
			b.Events().Delete(t.Context(), event.TypedDeleteEvent[*gardencorev1beta1.Shoot]{Object: s}, queue)
		case 1:
			moved := s.DeepCopy()
			moved.Spec.SeedName, moved.Status.SeedName = new("eu-2"), new("eu-2")
			b.Events().Update(t.Context(), event.TypedUpdateEvent[*gardencorev1beta1.Shoot]{ObjectOld: s, ObjectNew: moved}, queue)
		default:
			b.sleep(t, s)
		}
	}
}

func (b *bed) sleep(t *testing.T, s *gardencorev1beta1.Shoot) {
	t.Helper()
	live := &gardencorev1beta1.Shoot{}
	key := client.ObjectKeyFromObject(s)
	if err := b.garden.Get(t.Context(), key, live); err != nil {
		t.Fatal(err)
	}
	live.Spec.Hibernation = &gardencorev1beta1.Hibernation{Enabled: new(true)}
	if err := b.garden.Update(t.Context(), live); err != nil {
		t.Fatal(err)
	}
	live.Status.Hibernated = true
	if err := b.garden.Status().Update(t.Context(), live); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Reconcile(t.Context(), reconcile.Request{NamespacedName: key}); err != nil {
		t.Fatal(err)
	}
}
