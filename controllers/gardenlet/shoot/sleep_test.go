// SPDX-License-Identifier: Apache-2.0

package shoot_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/shoot"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// bedroom is a seed where everything succeeds at once, and a shoot in it.
type bedroom struct {
	*landscape

	shoot *gardencorev1beta1.Shoot
	// inside is the cluster of the shoot.
	inside client.Client
	// visits counts the connections to it.
	visits atomic.Int32
}

func newBedroom(t *testing.T, changes ...func(*gardencorev1beta1.Shoot)) *bedroom {
	t.Helper()
	s := fresh(append([]func(*gardencorev1beta1.Shoot){withWorkers, byCredentialsBinding, func(s *gardencorev1beta1.Shoot) {
		s.Spec.Networking = &gardencorev1beta1.Networking{Type: new("local")}
		s.Spec.Provider.Workers[0].Machine.Image = &gardencorev1beta1.ShootMachineImage{Name: "local", Version: new("1.0.0")}
	}}, changes...)...)
	b := &bedroom{landscape: newLandscape(t, s), shoot: s}
	b.give(t, b.GardenClient, credentialsBinding("Secret"))
	b.give(t, b.GardenClient, account())
	b.inside = fake.NewClientBuilder().WithScheme(b.SeedClient.Scheme()).
		WithObjects(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "kube-system"}}, tunnelPod()).Build()
	b.SeedClient = livelySeed(b.SeedClient.Scheme(), b.inside)
	b.Shoots = &kit.Shoots{Seed: b.SeedClient, Connect: func([]byte) (*kit.Shoot, error) {
		b.visits.Add(1)
		return &kit.Shoot{Client: b.inside, Try: reached}, nil
	}}

	return b
}

func (b *bedroom) run(t *testing.T) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		if err := shoot.RunFlow(t.Context(), b.Reconciler, b.shoot, "shoot--dev--a"); err != nil {
			t.Fatal(err)
		}
	})
}

func (b *bedroom) sleep(t *testing.T, wanted bool) {
	t.Helper()
	b.shoot.Spec.Hibernation = &gardencorev1beta1.Hibernation{Enabled: &wanted}
	b.run(t)
}

// instances are the instances of all parts of the control plane.
func (b *bedroom) instances(t *testing.T) map[string]int32 {
	t.Helper()
	found := map[string]int32{}
	deployments, sets := &appsv1.DeploymentList{}, &appsv1.StatefulSetList{}
	if err := errors.Join(b.SeedClient.List(t.Context(), deployments), b.SeedClient.List(t.Context(), sets)); err != nil {
		t.Error(err) // Flows ask as well, in goroutines of their own.
	}
	for i := range deployments.Items {
		found[deployments.Items[i].Name] = *deployments.Items[i].Spec.Replicas
	}
	for i := range sets.Items {
		found[sets.Items[i].Name] = *sets.Items[i].Spec.Replicas
	}

	return found
}

func all(instances int32) map[string]int32 {
	return map[string]int32{
		"etcd-main": instances, "etcd-events": instances, "kube-apiserver": instances, "kube-controller-manager": instances, "kube-scheduler": instances,
	}
}

// tunnelPod is a pod through which the API server reaches the nodes.
func tunnelPod() *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "konnectivity-agent-0", Labels: map[string]string{"type": "tunnel"}},
		Status:     corev1.PodStatus{Phase: corev1.PodRunning},
	}
}

// reached is an answer from beyond the tunnel.
func reached(context.Context, string) error { return nil }

func machineNode() *corev1.Node {
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "m-1", Labels: map[string]string{"worker.gardener.cloud/pool": "small"}},
		Status:     corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}},
	}
}

// TestNight lets a shoot sleep, wake up, sleep again, and be deleted in its sleep.
func TestNight(t *testing.T) {
	t.Parallel()
	b := newBedroom(t)
	node := machineNode()
	b.give(t, b.inside, node)
	b.run(t)
	if diff := cmp.Diff(all(1), b.instances(t)); diff != "" {
		t.Fatalf("a shoot that is awake (-want +got):\n%s", diff)
	}

	// The cloud removes the machine, whose pod stays behind, as does what it had attached.
	if err := b.inside.Delete(t.Context(), node); err != nil {
		t.Fatal(err)
	}
	behind := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "proxy"}, Spec: corev1.PodSpec{NodeName: "m-1"}}
	waiting := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "waiting"}}
	disk := &storagev1.VolumeAttachment{ObjectMeta: metav1.ObjectMeta{Name: "disk", Finalizers: []string{"example.com/attacher"}}}
	for _, object := range []client.Object{behind, waiting, disk} {
		b.give(t, b.inside, object)
	}
	b.sleep(t, true)
	if diff := cmp.Diff(all(0), b.instances(t)); diff != "" {
		t.Errorf("GLET-HIB-2, 4: a shoot that sleeps has no control plane (-want +got):\n%s", diff)
	}
	for _, gone := range []client.Object{behind, disk} {
		if err := b.inside.Get(t.Context(), client.ObjectKeyFromObject(gone), gone); client.IgnoreNotFound(err) != nil || err == nil {
			t.Errorf("GLET-HIB-2: %T %q is still there", gone, gone.GetName())
		}
	}
	if err := b.inside.Get(t.Context(), client.ObjectKeyFromObject(waiting), waiting); err != nil {
		t.Errorf("a pod that never ran was not left alone: %v", err)
	}
	made := found(t, b.SeedClient, inSeed()...)
	for _, want := range []string{"Infrastructure a", "ControlPlane a", "Worker a", "StatefulSet etcd-main", "Service kube-apiserver"} {
		if !slices.Contains(made, want) {
			t.Errorf("GLET-HIB-6: %s has to stay, found %v", want, made)
		}
	}
	if b.Shoots.Len() != 0 {
		t.Error("GLET-RECON-5: the connection to a shoot that sleeps is kept")
	}

	b.give(t, b.inside, machineNode())
	b.sleep(t, false)
	if diff := cmp.Diff(all(1), b.instances(t)); diff != "" {
		t.Errorf("GLET-HIB-5: a shoot that woke up (-want +got):\n%s", diff)
	}

	if err := b.inside.Delete(t.Context(), machineNode()); err != nil {
		t.Fatal(err)
	}
	b.sleep(t, true)
	b.shoot.DeletionTimestamp = &metav1.Time{Time: now()}
	before := b.visits.Load()
	b.run(t)
	if b.visits.Load() == before {
		t.Error("GLET-DEL-6: a sleeping shoot was deleted without being woken up to clean up")
	}
	if left := found(t, b.SeedClient, inSeed()...); len(left) > 0 {
		t.Errorf("GLET-DEL-6: the deletion of a sleeping shoot leaves %v", left)
	}
}

// TestRunsUntilAtRest_GLET_HIB_4: as long as something is left in a cluster that falls asleep, its control plane goes on, so that it can go.
func TestRunsUntilAtRest_GLET_HIB_4(t *testing.T) {
	t.Parallel()
	b := newBedroom(t)
	node := machineNode()
	b.give(t, b.inside, node)
	b.run(t)
	if err := b.inside.Delete(t.Context(), node); err != nil {
		t.Fatal(err)
	}
	inside, _ := b.inside.(client.WithWatch)
	looked := 0
	b.inside = interceptor.NewClient(inside, interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			if list.GetObjectKind().GroupVersionKind().Kind == "NodeList" {
				looked++
				if diff := cmp.Diff(all(1), b.instances(t)); diff != "" { //nolint:contextcheck // It has that of the test.
					t.Errorf("a shoot whose nodes are looked for (-want +got):\n%s", diff)
				}
			}
			return c.List(ctx, list, options...)
		},
	})
	b.Shoots.Drop("shoot--dev--a")
	b.sleep(t, true)
	if looked == 0 {
		t.Error("nobody has looked for nodes")
	}
	if diff := cmp.Diff(all(0), b.instances(t)); diff != "" {
		t.Errorf("a shoot that sleeps (-want +got):\n%s", diff)
	}
}

func TestCreatedAsleep(t *testing.T) {
	t.Parallel()
	b := newBedroom(t, asleep)
	for range 2 {
		b.run(t)
		if diff := cmp.Diff(all(0), b.instances(t)); diff != "" {
			t.Errorf("GLET-HIB-7: a shoot that was created asleep has no control plane (-want +got):\n%s", diff)
		}
	}
	if b.visits.Load() != 0 {
		t.Error("GLET-HIB-3: somebody tried to reach a cluster that was never awake")
	}
	b.give(t, b.inside, machineNode())
	b.sleep(t, false)
	if diff := cmp.Diff(all(1), b.instances(t)); diff != "" {
		t.Errorf("GLET-HIB-5: it wakes up (-want +got):\n%s", diff)
	}
}

func TestHibernatedIsReported_GLET_HIB_1(t *testing.T) {
	t.Parallel()
	for power, want := range map[facts.Power]bool{facts.Awake: false, facts.FallingAsleep: true, facts.Asleep: true} {
		// The owner has changed his mind meanwhile: what counts is what was done.
		if got := shoot.Succeeded(running(), power, now()).Hibernated; got != want {
			t.Errorf("after a run with power %d, status.hibernated = %t, want %t", power, got, want)
		}
	}
}

// leaderships are the leases of a shoot's controllers, and one of somebody else.
func leaderships() []client.Object {
	var leases []client.Object
	for _, name := range []string{"kube-controller-manager", "kube-scheduler", "of-the-owner"} {
		leases = append(leases, &coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: name}, Spec: coordinationv1.LeaseSpec{HolderIdentity: new("gone")},
		})
	}
	return leases
}

// TestLeadershipIsReleased: the controllers that are started when a shoot wakes up do not wait for those that have stopped. See the graph of
// GLET-HIB-2 for when it happens.
func TestLeadershipIsReleased(t *testing.T) {
	t.Parallel()
	b := newBedroom(t)
	node := machineNode()
	b.give(t, b.inside, node)
	b.run(t)
	for _, lease := range leaderships() {
		b.give(t, b.inside, lease)
	}
	b.run(t)
	left := &coordinationv1.LeaseList{}
	if err := b.inside.List(t.Context(), left); err != nil || len(left.Items) != 3 {
		t.Fatalf("a shoot that is awake has %d leases, want 3; error %v", len(left.Items), err)
	}
	if err := b.inside.Delete(t.Context(), node); err != nil {
		t.Fatal(err)
	}
	b.sleep(t, true)
	if err := b.inside.List(t.Context(), left); err != nil || len(left.Items) != 1 || left.Items[0].Name != "of-the-owner" {
		t.Errorf("the leases of a shoot that sleeps are %v, want only that of its owner; error %v", left.Items, err)
	}
}

// TestLeadershipIsKept: a webhook of the owner that refuses to release the leases, or does not answer, does not keep a shoot awake.
func TestLeadershipIsKept(t *testing.T) {
	t.Parallel()
	for name, refuse := range map[string]func(ctx context.Context) error{
		"Refused": func(context.Context) error { return errors.New("webhook \"all.example.com\" denied the request") },
		"Silence": func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBedroom(t)
			node := machineNode()
			b.give(t, b.inside, node)
			b.run(t)
			if err := b.inside.Delete(t.Context(), node); err != nil {
				t.Fatal(err)
			}
			inside, _ := b.inside.(client.WithWatch)
			var asked atomic.Int32
			b.inside = interceptor.NewClient(inside, interceptor.Funcs{
				Delete: func(ctx context.Context, c client.WithWatch, obj client.Object, options ...client.DeleteOption) error {
					if _, ok := obj.(*coordinationv1.Lease); ok {
						asked.Add(1)
						return refuse(ctx)
					}
					return c.Delete(ctx, obj, options...)
				},
			})
			b.Shoots.Drop("shoot--dev--a")
			b.sleep(t, true)
			if asked.Load() == 0 {
				t.Error("nobody tried to release a lease")
			}
			if diff := cmp.Diff(all(0), b.instances(t)); diff != "" {
				t.Errorf("the control plane does not sleep (-want +got):\n%s", diff)
			}
			if b.Shoots.Len() != 0 {
				t.Error("the connection to a shoot that sleeps is kept")
			}
		})
	}
}

// TestUnrest sees what a cluster is waited for, and in which order.
func TestUnrest(t *testing.T) {
	t.Parallel()
	b := newBedroom(t)
	slice := &discoveryv1.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "hello"},
		Endpoints:  []discoveryv1.Endpoint{{Addresses: []string{"10.100.0.7"}, TargetRef: &corev1.ObjectReference{Kind: "Pod", Name: "hello"}}},
	}
	server := &discoveryv1.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "kubernetes"}, Endpoints: []discoveryv1.Endpoint{{Addresses: []string{"10.0.0.1"}}},
	}
	node := machineNode()
	of := func(name string, phase corev1.PodPhase, finalizers ...string) *corev1.Pod {
		return &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Finalizers: finalizers}, Spec: corev1.PodSpec{NodeName: node.Name},
			Status: corev1.PodStatus{Phase: phase},
		}
	}
	// What has ended does not run, and what is deleted and held neither. Nobody lets it go while the cluster sleeps.
	runs, held := of("runs", corev1.PodRunning), of("held", corev1.PodRunning, "example.com/hold")
	ended, broken := of("ended", corev1.PodSucceeded, "example.com/hold"), of("broken", corev1.PodFailed, "example.com/hold")
	for _, object := range []client.Object{node, slice, server, runs, held, ended, broken} {
		b.give(t, b.inside, object)
	}
	for _, step := range []struct {
		// remove is nil if what is left goes by itself.
		remove client.Object
		want   []string
	}{
		{remove: node, want: []string{`node "m-1"`}},
		{want: []string{`pod "default/held"`, `pod "default/runs"`}},
		{remove: slice, want: []string{`addresses of pods in endpoint slice "default/hello"`}},
	} {
		left, err := shoot.Unrest(t.Context(), b.Reconciler, b.inside)
		if diff := cmp.Diff(step.want, left); diff != "" || err != nil {
			t.Errorf("what is left: error %v (-want +got):\n%s", err, diff)
		}
		if step.remove == nil {
			continue
		}
		if err := b.inside.Delete(t.Context(), step.remove); err != nil {
			t.Fatal(err)
		}
	}
	if left, err := shoot.Unrest(t.Context(), b.Reconciler, b.inside); len(left) > 0 || err != nil {
		t.Errorf("the cluster is at rest, but %v is left, error %v", left, err)
	}
	for _, pod := range []*corev1.Pod{held, ended, broken} {
		if err := b.inside.Get(t.Context(), client.ObjectKeyFromObject(pod), pod); err != nil || pod.DeletionTimestamp == nil {
			t.Errorf("pod %q is not deleted, error %v", pod.Name, err)
		}
	}
}
