// SPDX-License-Identifier: Apache-2.0

package shoot_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/shoot"
)

func TestVolumeOfARunningETCDKeepsItsSize_BAK_ETCD_6(t *testing.T) {
	t.Parallel()
	l := newLandscape(t, fresh())
	for _, name := range []string{"etcd-main-client", "etcd-events-client"} {
		l.give(t, l.SeedClient, &corev1.Service{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shoot--dev--a", Name: name}, Spec: corev1.ServiceSpec{ClusterIP: "10.99.1.1"},
		})
	}
	sized := func(minimum string) *gardencorev1beta1.Seed {
		seed := &gardencorev1beta1.Seed{}
		if minimum != "" {
			seed.Spec.Volume = &gardencorev1beta1.SeedVolume{MinimumSize: new(resource.MustParse(minimum))}
		}
		return seed
	}
	set := func(name string) client.Object {
		return &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "shoot--dev--a", Name: name}}
	}
	expect := func(seed *gardencorev1beta1.Seed, reason, mainSize, eventsSize string) {
		t.Helper()
		if err := shoot.DeployETCD(t.Context(), l.Reconciler, l.shoot(t), seed, "shoot--dev--a"); err != nil {
			t.Fatal(err)
		}
		sets, got := &appsv1.StatefulSetList{}, map[string]string{}
		if err := l.SeedClient.List(t.Context(), sets, client.InNamespace("shoot--dev--a")); err != nil {
			t.Fatal(err)
		}
		for _, live := range sets.Items {
			got[live.Name] = live.Spec.VolumeClaimTemplates[0].Spec.Resources.Requests.Storage().String()
		}
		if diff := cmp.Diff(map[string]string{"etcd-main": mainSize, "etcd-events": eventsSize}, got); diff != "" {
			t.Errorf("%s\nsizes of the volumes (-want +got):\n%s", reason, diff)
		}
	}
	expect(sized(""), "a new one has the size that etcd needs", "10Gi", "10Gi")
	expect(sized("25Gi"), "a seed that asks for more later does not touch what runs: the server would refuse it", "10Gi", "10Gi")
	if err := l.SeedClient.Delete(t.Context(), set("etcd-events")); err != nil {
		t.Fatal(err)
	}
	expect(sized("25Gi"), "a new one has the smallest size that the seed makes", "10Gi", "25Gi")
	expect(sized("20Gi"), "nor does one that asks for less", "10Gi", "25Gi")
}

// TestDeletionOfAnETCDIsAwaited: the task of a deletion ends when the store is gone, whose volume goes with it. The other store stays.
func TestDeletionOfAnETCDIsAwaited_BAK_ETCD_11(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLandscape(t, fresh())
		if err := shoot.DeployETCD(t.Context(), l.Reconciler, l.shoot(t), &gardencorev1beta1.Seed{}, "shoot--dev--a"); err != nil {
			t.Fatal(err)
		}
		store, key := &appsv1.StatefulSet{}, client.ObjectKey{Namespace: "shoot--dev--a", Name: "etcd-main"}
		get := func() error { return l.SeedClient.Get(t.Context(), key, store) }
		if err := get(); err != nil {
			t.Fatal(err)
		}
		if kept := store.Spec.PersistentVolumeClaimRetentionPolicy; kept == nil || kept.WhenDeleted != appsv1.DeletePersistentVolumeClaimRetentionPolicyType {
			t.Errorf("the claim of its volume is kept: %+v", kept)
		}
		store.Finalizers = []string{"foregroundDeletion"}
		if err := l.SeedClient.Update(t.Context(), store); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() {
			ended <- shoot.RunTasks(t.Context(), l.Reconciler, l.shoot(t), "shoot--dev--a", "etcd-main-delete")
		}()
		time.Sleep(time.Minute) // of the time of the bubble
		if err := get(); err != nil || store.DeletionTimestamp == nil {
			t.Fatalf("after a minute the store is not being deleted: %v", err)
		}
		select {
		case err := <-ended:
			t.Fatalf("the task did not wait for the store: %v", err)
		default:
		}
		store.Finalizers = nil
		if err := l.SeedClient.Update(t.Context(), store); err != nil {
			t.Fatal(err)
		}
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		var left []string
		for _, list := range []client.ObjectList{&appsv1.StatefulSetList{}, &corev1.ServiceList{}} {
			if err := l.SeedClient.List(t.Context(), list, client.InNamespace("shoot--dev--a")); err != nil {
				t.Fatal(err)
			}
			err := meta.EachListItem(list, func(obj runtime.Object) error {
				left = append(left, obj.(client.Object).GetName()) //nolint:forcetypeassert // all of them are
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff([]string{"etcd-events", "etcd-events-client"}, left); diff != "" {
			t.Errorf("what is left (-want +got):\n%s", diff)
		}
	})
}
