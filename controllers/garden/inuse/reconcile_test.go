// SPDX-License-Identifier: Apache-2.0

package inuse_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/garden/inuse"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// inUse returns a class that is being deleted, and a shoot that uses it.
func inUse() (*gardencorev1beta1.ExposureClass, *gardencorev1beta1.Shoot) {
	class := &gardencorev1beta1.ExposureClass{ObjectMeta: metav1.ObjectMeta{
		Name: "private", DeletionTimestamp: new(metav1.Now()), Finalizers: []string{"gardener"},
	}}
	shoot := &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-dev", Name: "a"}}
	shoot.Spec.ExposureClassName = new("private")
	return class, shoot
}

// TestReferenced_GCM_USE_2 deletes a class that a shoot uses. The error has the queue ask again, also if no event tells that the shoot is gone.
func TestReferenced_GCM_USE_2(t *testing.T) {
	t.Parallel()
	kinds, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	class, shoot := inUse()
	c := fake.NewClientBuilder().WithScheme(kinds).WithObjects(class, shoot).Build()
	recorder := events.NewFakeRecorder(10)
	r := &inuse.Reconciler{Base: kit.Base{Client: c, Reader: c, Recorder: recorder}, Protection: inuse.ExposureClasses()}
	r.Protection.EventType = corev1.EventTypeNormal
	request := reconcile.Request{NamespacedName: client.ObjectKeyFromObject(class)}
	if result, err := r.Reconcile(t.Context(), request); err == nil {
		t.Errorf("Reconcile(...) = %v and no error, so nobody asks again", result)
	}
	if got := <-recorder.Events; !strings.HasPrefix(got, "Normal ResourceReferenced ") || !strings.Contains(got, "Shoot garden-dev/a") {
		t.Errorf("event %q, want one that names the shoot", got)
	}
	if err := c.Delete(t.Context(), shoot); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Reconcile(t.Context(), request); err != nil {
		t.Errorf("Reconcile(...) = %v, but the shoot is gone", err)
	}
	if err := c.Get(t.Context(), request.NamespacedName, class); client.IgnoreNotFound(err) != nil || err == nil {
		t.Errorf("the class is still there with finalizers %v, %v", class.Finalizers, err)
	}
}

// TestOldCache_GCM_USE_1 has a shoot that the cache does not show yet.
func TestOldCache_GCM_USE_1(t *testing.T) {
	t.Parallel()
	kinds, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	class, shoot := inUse()
	cache := fake.NewClientBuilder().WithScheme(kinds).WithObjects(class.DeepCopy()).Build()
	server := fake.NewClientBuilder().WithScheme(kinds).WithObjects(class.DeepCopy(), shoot).Build()
	r := &inuse.Reconciler{Base: kit.Base{Client: cache, Reader: server, Recorder: events.NewFakeRecorder(10)}, Protection: inuse.ExposureClasses()}
	if result, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(class)}); err == nil {
		t.Errorf("Reconcile(...) = %v and no error, although a shoot uses the class", result)
	}
	if err := cache.Get(t.Context(), client.ObjectKeyFromObject(class), class); err != nil {
		t.Errorf("the class is released: %v", err)
	}
}

// TestOnlySelfHosted_GCM_CR_10 has two shoots, of which the self-hosted one is protected.
func TestOnlySelfHosted_GCM_CR_10(t *testing.T) {
	t.Parallel()
	kinds, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	lone, hosted := shoot("lone", gardencorev1beta1.ShootSpec{}), shoot("hosted", gardencorev1beta1.ShootSpec{})
	lone.Spec.Provider.Workers = []gardencorev1beta1.Worker{{ControlPlane: &gardencorev1beta1.WorkerControlPlane{}}}
	c := fake.NewClientBuilder().WithScheme(kinds).WithObjects(lone, hosted).Build()
	r := &inuse.Reconciler{Base: kit.Base{Client: c, Reader: c}, Protection: inuse.SelfHostedShoots()}
	for object, want := range map[*gardencorev1beta1.Shoot]int{lone: 1, hosted: 0} {
		if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(object)}); err != nil {
			t.Fatal(err)
		}
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
			t.Fatal(err)
		}
		if len(object.Finalizers) != want {
			t.Errorf("shoot %q has finalizers %v, want %d", object.Name, object.Finalizers, want)
		}
		if got := r.Protection.Only(object); got != (want == 1) {
			t.Errorf("events of shoot %q start a pass: %t", object.Name, got)
		}
	}
}
