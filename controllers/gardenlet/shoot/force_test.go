// SPDX-License-Identifier: Apache-2.0

package shoot_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	gardenmachinev1alpha1 "github.com/terrarium-garden/terrarium/apis/machine/v1alpha1"
	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/shoot"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/operation"
	"github.com/terrarium-garden/terrarium/tests/golden"
)

const (
	forceDeletion = "confirmation.gardener.cloud/force-deletion"
	confirmation  = "confirmation.gardener.cloud/deletion"
)

func TestForced_GLET_FORCE_1(t *testing.T) {
	t.Parallel()
	for reason, tc := range map[string]struct {
		shoot *gardencorev1beta1.Shoot
		want  bool
	}{
		"asked for in deletion":      {running(leaving, annotated(forceDeletion, "true")), true},
		"spelled differently":        {running(leaving, annotated(forceDeletion, "1")), true},
		"only in deletion":           {running(annotated(forceDeletion, "true")), false},
		"not asked for":              {running(leaving), false},
		"said not to be asked for":   {running(leaving, annotated(forceDeletion, "false")), false},
		"not said what is asked for": {running(leaving, annotated(forceDeletion, "please")), false},
	} {
		if got := shoot.Forced(tc.shoot); got != tc.want {
			t.Errorf("%s: Forced(...) = %t, want %t", reason, got, tc.want)
		}
	}
}

func TestForceGraph_GLET_FORCE_2(t *testing.T) {
	t.Parallel()
	g, err := shoot.ForceGraph(t.Context(), running(withWorkers, leaving))
	if err != nil {
		t.Fatal(err)
	}
	golden.Text(t, "force-delete.dot", g.DOT())
}

// abandoned is what a shoot has in the seed, none of which anybody lets go.
func abandoned(namespace string) []client.Object {
	held := func(name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: namespace, Name: name, Finalizers: []string{"example.org/held"}}
	}
	return []client.Object{
		&gardenextensionsv1alpha1.Infrastructure{ObjectMeta: held("a")},
		&gardenextensionsv1alpha1.Worker{ObjectMeta: held("a")},
		&gardenextensionsv1alpha1.DNSRecord{ObjectMeta: held("a-internal")},
		&gardenextensionsv1alpha1.Extension{ObjectMeta: held("extra")},
		&gardenresourcesv1alpha1.ManagedResource{ObjectMeta: held("a"), Spec: gardenresourcesv1alpha1.ManagedResourceSpec{KeepObjects: new(true)}},
		&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "machine-controller-manager"}},
		&appsv1.StatefulSet{ObjectMeta: held("etcd-main")},
		&corev1.PersistentVolumeClaim{ObjectMeta: held("etcd-main-0")},
		&corev1.Secret{ObjectMeta: held("a")},
	}
}

// withMachines is a seed that knows machines.
func withMachines(t *testing.T) client.Client {
	t.Helper()
	types, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	return fake.NewClientBuilder().WithScheme(types).WithObjects(machineOf("shoot--dev--a"), machineOf("shoot--dev--b")).Build()
}

func machineOf(namespace string) client.Object {
	return &gardenmachinev1alpha1.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "m-1", Finalizers: []string{"example.org/held"}}}
}

// everythingIn lists objects of the seed.
func (l *landscape) everythingIn(t *testing.T, objs ...client.Object) []string {
	t.Helper()
	var left []string
	for _, obj := range objs {
		err := l.SeedClient.Get(t.Context(), client.ObjectKeyFromObject(obj), obj)
		if client.IgnoreNotFound(err) != nil {
			t.Fatal(err)
		}
		if err == nil {
			left = append(left, obj.GetNamespace()+"/"+obj.GetName())
		}
	}
	slices.Sort(left)
	return left
}

// TestForcedDeletion deletes a shoot of which nobody lets anything go, by force.
func TestForcedDeletion(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLandscape(t, fresh(annotated(forceDeletion, "true"), func(s *gardencorev1beta1.Shoot) {
			s.Finalizers = []string{"gardener"}
			s.Status.UID, s.Status.TechnicalID, s.Status.SeedName = "uid-1", "shoot--dev--a", new("eu-1")
		}))
		l.SeedClient = withMachines(t)
		mine, neighbours := abandoned("shoot--dev--a"), abandoned("shoot--dev--b")
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shoot--dev--a"}}
		made := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shoot--dev--a", Name: "kube-root-ca.crt"}}
		for _, obj := range append(append([]client.Object{namespace, made}, mine...), neighbours...) {
			if err := l.SeedClient.Create(t.Context(), obj); err != nil {
				t.Fatal(err)
			}
		}
		if err := l.GardenClient.Create(t.Context(), savedState()); err != nil {
			t.Fatal(err)
		}
		// Its ordinary deletion has begun before, and waits for somebody.
		if err := errors.Join(l.SeedClient.Delete(t.Context(), mine[0]), l.GardenClient.Delete(t.Context(), l.shoot(t))); err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		done := make(chan error, 1)
		go func() {
			_, err := l.pass(t.Context())
			done <- err
		}()
		time.Sleep(30 * time.Second) // of the time of the bubble
		infrastructure, record := &gardenextensionsv1alpha1.Infrastructure{}, &gardenextensionsv1alpha1.DNSRecord{}
		if err := errors.Join(
			l.SeedClient.Get(t.Context(), client.ObjectKeyFromObject(mine[0]), infrastructure), l.SeedClient.Get(t.Context(), client.ObjectKeyFromObject(mine[2]), record),
		); err != nil {
			t.Fatalf("GLET-FORCE-2: an extension has time to let go: %v", err)
		}
		if a := infrastructure.Annotations; a[forceDeletion] != "true" || a[confirmation] != "true" || a["gardener.cloud/operation"] != "" {
			t.Errorf("GLET-FORCE-3: the extension is told to leave the infrastructure alone, got annotations %v", a)
		}
		extra := &gardenextensionsv1alpha1.Extension{}
		if err := l.SeedClient.Get(t.Context(), client.ObjectKeyFromObject(mine[3]), extra); err != nil {
			t.Fatalf("GLET-FORCE-2: an add-on has time to let go: %v", err)
		}
		if a := extra.Annotations; a[forceDeletion] != "true" || a[confirmation] != "true" {
			t.Errorf("EXT-DEL-4: an add-on is told that the deletion is forced, got annotations %v", a)
		}
		if a := record.Annotations; a[forceDeletion] != "" || a[confirmation] != "true" {
			t.Errorf("GLET-FORCE-2: a DNS record is deleted at the provider too, got annotations %v", a)
		}
		if err := <-done; err != nil {
			t.Fatalf("Reconcile(...) returned %v", err)
		}
		if took := time.Since(begin); took > 15*time.Minute {
			t.Errorf("the forced deletion took %s", took)
		}
		if left := l.everythingIn(t, append(mine, namespace, machineOf("shoot--dev--a"))...); len(left) > 0 {
			t.Errorf("GLET-FORCE-2: in the seed there are still %v", left)
		}
		var want []string
		for _, obj := range neighbours {
			want = append(want, obj.GetNamespace()+"/"+obj.GetName())
		}
		want, neighbours = append(want, "shoot--dev--b/m-1"), append(neighbours, machineOf("shoot--dev--b"))
		slices.Sort(want)
		if diff := cmp.Diff(want, l.everythingIn(t, neighbours...)); diff != "" {
			t.Errorf("what another shoot has (-want +got):\n%s", diff)
		}
		err := l.GardenClient.Get(t.Context(), client.ObjectKey{Namespace: "garden-dev", Name: "a"}, &gardencorev1beta1.Shoot{})
		if !apierrors.IsNotFound(err) {
			t.Errorf("GLET-FORCE-1: the shoot is still there: %v", err)
		}
		if err := l.GardenClient.Get(t.Context(), client.ObjectKeyFromObject(savedState()), savedState()); !apierrors.IsNotFound(err) {
			t.Errorf("GLET-STATE-4: the saved state outlived the shoot: %v", err)
		}
		if l.told(t) != nil {
			t.Error("the Cluster object outlived the shoot")
		}
	})
}

// TestNeverComesBack_GLET_FORCE_1: a shoot that cannot be cleaned up, because it cannot be entered any more, may be deleted by force.
func TestNeverComesBack_GLET_FORCE_1(t *testing.T) {
	t.Parallel()
	for reason, lost := range map[string]func(b *bedroom){
		"a store has no pods":           func(b *bedroom) { b.lose("etcd-main") },
		"the API server does not serve": func(b *bedroom) { b.inside = nil },
		"nothing can be written": func(b *bedroom) {
			inside, _ := b.inside.(client.WithWatch)
			b.inside = interceptor.NewClient(inside, interceptor.Funcs{
				Apply: func(context.Context, client.WithWatch, runtime.ApplyConfiguration, ...client.ApplyOption) error {
					return errors.New("no leader")
				},
			})
		},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			b := newBedroom(t)
			b.give(t, b.inside, machineNode())
			b.run(t)
			lost(b)
			inside := b.inside
			b.Shoots = &kit.Shoots{Seed: b.SeedClient, Connect: func([]byte) (*kit.Shoot, error) {
				if inside == nil {
					return nil, errors.New("connection refused")
				}
				return &kit.Shoot{Client: inside, Try: reached}, nil
			}}
			if inside == nil {
				b.fail(t) // A reconciliation gives nobody a reason to delete by force.
			}
			b.shoot.DeletionTimestamp = &metav1.Time{Time: now()}
			b.fail(t, gardencorev1beta1.ErrorCodeCleanupClusterResources)
		})
	}
}

// fail runs the flow, which has to fail with these codes.
func (b *bedroom) fail(t *testing.T, want ...gardencorev1beta1.ErrorCode) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		err := shoot.RunFlow(t.Context(), b.Reconciler, b.shoot, "shoot--dev--a")
		if err == nil {
			t.Fatal("the operation succeeded")
		}
		if diff := cmp.Diff(want, operation.Codes(err)); diff != "" {
			t.Errorf("the operation failed with %v\ncodes (-want +got):\n%s", err, diff)
		}
	})
}

// lose makes a workload of the control plane one whose pods never run.
func (b *bedroom) lose(name string) {
	seed, _ := b.SeedClient.(client.WithWatch)
	b.SeedClient = interceptor.NewClient(seed, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, options ...client.GetOption) error {
			err := c.Get(ctx, key, obj, options...)
			if u, ok := obj.(*unstructured.Unstructured); ok && key.Name == name && (u.GetKind() == "StatefulSet" || u.GetKind() == "Deployment") {
				u.Object["status"] = map[string]any{"replicas": int64(1)}
			}
			return err
		},
	})
}
