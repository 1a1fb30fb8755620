// SPDX-License-Identifier: Apache-2.0

package integration_test

import (
	"context"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// TestWatchesOfKeysEnd_GAC_SAR_17 has a gardenlet watch the keys of a shoot, which is deleted and created again on another seed. The
// gardenlet does not learn the keys of the second shoot by a watch that it began when the first one was there.
func TestWatchesOfKeysEnd_GAC_SAR_17(t *testing.T) {
	t.Parallel()
	o := operate(t)
	growAccess(o)
	const namespace, again = "garden-meadow", "again"
	shoot := o.shoot(namespace, again, "local", withWorker("mine"), formerly("mine"), func(s *gardencorev1beta1.Shoot) { s.Spec.SeedName = new("one") })
	keys := &gardencorev1beta1.InternalSecret{ObjectMeta: named(namespace, again+".ca-client"), Data: map[string][]byte{"ca.key": []byte("first")}}
	state := &gardencorev1beta1.ShootState{ObjectMeta: named(namespace, again)}
	o.create(keys, state)
	one := o.acting(seedRole("one"))
	watches := map[client.Object]func() (watch.Interface, error){
		keys: func() (watch.Interface, error) {
			return watchOne(o, one, &gardencorev1beta1.InternalSecretList{}, keys)
		},
		state: func() (watch.Interface, error) { return watchOne(o, one, &gardencorev1beta1.ShootStateList{}, state) },
	}
	open := map[client.Object]watch.Interface{}
	for object, begin := range watches {
		events, err := begin()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(events.Stop)
		open[object] = events
		if first := o.next(events); first == nil || first.GetName() != object.GetName() {
			t.Fatalf("the watch of %T begins with %v", object, first)
		}
		o.change(object, func() { metav1.SetMetaDataAnnotation(annotated(object), "shoot", "first") })
		if change := o.next(events); change == nil || change.GetAnnotations()["shoot"] != "first" {
			t.Fatalf("the watch of %T has %v, want the change", object, change)
		}
	}

	o.confirm(shoot)
	o.gone(shoot, "the first shoot goes")
	o.shoot(namespace, again, "local", withWorker("mine"), formerly("mine"), func(s *gardencorev1beta1.Shoot) { s.Spec.SeedName = new("two") })
	two := o.acting(seedRole("two"))
	harness.Eventually(t, "the gardenlet of the second shoot reads its keys", func(ctx context.Context) error {
		return two.Get(ctx, client.ObjectKeyFromObject(keys), &gardencorev1beta1.InternalSecret{})
	})
	for object, events := range open {
		o.change(object, func() { metav1.SetMetaDataAnnotation(annotated(object), "shoot", "second") })
		for event := o.next(events); event != nil; event = o.next(events) {
			if event.GetAnnotations()["shoot"] == "second" {
				t.Errorf("the gardenlet of the former seed sees the %T of the second shoot", object)
			}
		}
		if _, err := watches[object](); !apierrors.IsForbidden(err) {
			t.Errorf("it watches %T again: %v, want Forbidden", object, err)
		}
	}
}

// annotated gives access to the metadata of an object of either kind.
func annotated(object client.Object) *metav1.ObjectMeta {
	switch o := object.(type) {
	case *gardencorev1beta1.InternalSecret:
		return &o.ObjectMeta
	case *gardencorev1beta1.ShootState:
		return &o.ObjectMeta
	}

	return nil
}

func watchOne(o *operator, who client.WithWatch, list client.ObjectList, object client.Object) (watch.Interface, error) {
	return who.Watch(o.t.Context(), list, client.InNamespace(object.GetNamespace()), client.MatchingFields{"metadata.name": object.GetName()})
}

// next returns the object of the next event, or nil when the watch has ended.
func (o *operator) next(events watch.Interface) client.Object {
	o.t.Helper()
	limit := time.NewTimer(harness.Patience)
	defer limit.Stop()
	select {
	case event, open := <-events.ResultChan():
		if object, ok := event.Object.(client.Object); open && ok {
			return object
		}

		return nil
	case <-limit.C:
		o.t.Fatal("the watch says nothing and does not end")

		return nil
	}
}
