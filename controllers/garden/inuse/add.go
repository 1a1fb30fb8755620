// SPDX-License-Identifier: Apache-2.0

package inuse

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

var _ kit.Adder = (*Reconciler)(nil)

// Protection says what keeps the objects of one kind alive.
type Protection struct {
	// Name is the name of the controller.
	Name string
	// New returns an empty object of the protected kind.
	New func() client.Object
	// Finalizer holds the object back.
	Finalizer string
	// EventType is the type of the event that names the references; corev1.EventTypeNormal if empty.
	EventType string
	// References lists who references the object, in words for people, sorted. It is asked only in deletion, so the
	// reader does not go through a cache.
	References func(ctx context.Context, reader client.Reader, object client.Object) ([]string, error)
	// Releases lists the kinds whose objects reference protected ones: when one is deleted or points elsewhere, the
	// object that it pointed to is looked at without waiting for the backoff.
	Releases []Release
	// Hold, if set, is called for a live object, and marks what the object itself depends on.
	Hold func(ctx context.Context, world World, object client.Object) error
	// Free, if set, undoes Hold for a deleted object that nobody references any more.
	Free func(ctx context.Context, world World, object client.Object) error
}

// World is how Hold and Free reach the garden.
type World struct {
	// Client writes, and reads from the cache.
	Client client.Client
	// Reader reads past the cache.
	Reader client.Reader
}

// Release is a kind that references protected objects.
type Release struct {
	// Object is an empty object of the kind.
	Object client.Object
	// Of returns the protected objects that the object references.
	Of func(object client.Object) []types.NamespacedName
}

// Reconciler protects the objects of one kind.
type Reconciler struct {
	kit.Base

	// Protection is what to protect. It must be set.
	Protection Protection
	// Config is the section of the configuration.
	Config gardenconfigv1alpha1.ConcurrencyConfiguration
}

// AddToManager implements kit.Adder.
func (r *Reconciler) AddToManager(clusters kit.Clusters) error {
	if r.Protection.EventType == "" {
		r.Protection.EventType = corev1.EventTypeNormal
	}
	b := r.Controller(clusters, r.Protection.Name, kit.Workers(r.Config.ConcurrentSyncs)).For(r.Protection.New())
	for _, release := range r.Protection.Releases {
		b.Watches(release.Object, released(release))
	}
	return kit.Complete(b, r.Protection.Name, r)
}

// released enqueues what an object referenced and does not reference any more.
func released(release Release) handler.EventHandler {
	return handler.Funcs{
		UpdateFunc: func(_ context.Context, e event.UpdateEvent, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			still := release.Of(e.ObjectNew)
			for _, key := range release.Of(e.ObjectOld) {
				if !slices.Contains(still, key) {
					queue.Add(reconcile.Request{NamespacedName: key})
				}
			}
		},
		DeleteFunc: func(_ context.Context, e event.DeleteEvent, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			for _, key := range release.Of(e.Object) {
				queue.Add(reconcile.Request{NamespacedName: key})
			}
		},
	}
}
