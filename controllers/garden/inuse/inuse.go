// SPDX-License-Identifier: Apache-2.0

// Package inuse keeps an object alive for as long as others reference it. Every live object of a protected kind carries a
// finalizer; an object in deletion loses it once no other object references it any more, and until then an event names
// those that do (GCM-USE-1, GCM-USE-2). A kind is protected by a value of type Protection, not by another controller.
package inuse

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// Protection says what keeps the objects of one kind alive.
type Protection struct {
	// Name is the name of the controller.
	Name string
	// Object is an empty object of the protected kind.
	Object client.Object
	// Only, if set, says which objects of the kind are protected. It must never change for an object.
	Only func(object client.Object) bool
	// Finalizer holds the object back.
	Finalizer string
	// EventType is the type of the event that names the references; corev1.EventTypeNormal if empty.
	EventType string
	// UsedBy lists the kinds whose objects reference protected ones.
	UsedBy []Users
	// Hold, if set, is called for a live object. It marks what the object itself depends on.
	Hold func(ctx context.Context, garden *kit.Base, object client.Object) error
	// Free, if set, undoes Hold for an object in deletion that is not referenced any more.
	Free func(ctx context.Context, garden *kit.Base, object client.Object) error
}

// Users are the objects of a kind that references protected ones.
type Users struct {
	// Object is an empty object of the kind, List an empty list.
	Object client.Object
	List   client.ObjectList
	// Of returns the protected objects that an object of the kind references.
	Of func(object client.Object) []types.NamespacedName
	// Everywhere is set if a protected object can have users in other namespaces than its own.
	Everywhere bool
}

// By makes Users of the references that an object of the kind holds.
func By[O client.Object](object O, list client.ObjectList, of func(O) []types.NamespacedName) Users {
	return Users{Object: object, List: list, Of: func(object client.Object) []types.NamespacedName {
		if user, ok := object.(O); ok {
			return of(user)
		}
		return nil
	}}
}

// References names the objects that reference an object, by kind and name.
func (p Protection) References(ctx context.Context, reader client.Reader, scheme *runtime.Scheme, object client.Object) ([]string, error) {
	var references []string
	for _, users := range p.UsedBy {
		kind, err := apiutil.GVKForObject(users.Object, scheme)
		if err != nil {
			return nil, fmt.Errorf("find the kind of %T: %w", users.Object, err)
		}
		var options []client.ListOption
		if !users.Everywhere {
			options = append(options, client.InNamespace(object.GetNamespace()))
		}
		all, _ := users.List.DeepCopyObject().(client.ObjectList)
		if err := reader.List(ctx, all, options...); err != nil {
			return nil, fmt.Errorf("list objects of kind %s: %w", kind.Kind, err)
		}
		err = meta.EachListItem(all, func(item runtime.Object) error {
			if user, ok := item.(client.Object); ok && slices.Contains(users.Of(user), client.ObjectKeyFromObject(object)) {
				references = append(references, kind.Kind+" "+cache.MetaObjectToName(user).String())
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("read objects of kind %s: %w", kind.Kind, err)
		}
	}
	return references, nil
}

// Reconciler protects the objects of one kind.
type Reconciler struct {
	kit.Base

	// Protection is what to protect. It must be set.
	Protection Protection
	// Config is the section of the configuration.
	Config gardenconfigv1alpha1.ConcurrencyConfiguration
}

// AddToManager implements kit.Adder. An object that loses a reference is reconciled at once, without the backoff.
func (r *Reconciler) AddToManager(clusters kit.Clusters) error {
	if r.Protection.EventType == "" {
		r.Protection.EventType = corev1.EventTypeNormal
	}
	b := r.Controller(clusters, r.Protection.Name, kit.Workers(r.Config.ConcurrentSyncs)).For(r.Protection.Object, r.Protection.only()...)
	for _, users := range r.Protection.UsedBy {
		b.Watches(users.Object, released(users))
	}
	return kit.Complete(b, r.Protection.Name, r)
}

// only lets through the events of protected objects.
func (p Protection) only() []builder.ForOption {
	if p.Only == nil {
		return nil
	}
	return []builder.ForOption{builder.WithPredicates(predicate.NewPredicateFuncs(p.Only))}
}

// released enqueues the objects that an object has stopped referencing.
func released(users Users) handler.EventHandler {
	return handler.Funcs{
		UpdateFunc: func(_ context.Context, e event.UpdateEvent, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			still := users.Of(e.ObjectNew)
			for _, key := range users.Of(e.ObjectOld) {
				if !slices.Contains(still, key) {
					queue.Add(reconcile.Request{NamespacedName: key})
				}
			}
		},
		DeleteFunc: func(_ context.Context, e event.DeleteEvent, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			for _, key := range users.Of(e.Object) {
				queue.Add(reconcile.Request{NamespacedName: key})
			}
		},
	}
}

// Reconcile adds the finalizer to a live object, and removes it from one in deletion that is not referenced.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	object, _ := r.Protection.Object.DeepCopyObject().(client.Object)
	if err := r.Client.Get(ctx, request.NamespacedName, object); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if r.Protection.Only != nil && !r.Protection.Only(object) {
		return reconcile.Result{}, nil
	}
	if object.GetDeletionTimestamp() == nil {
		return kit.Result(kit.Stop(), r.hold(ctx, object))
	}
	if !controllerutil.ContainsFinalizer(object, r.Protection.Finalizer) {
		return reconcile.Result{}, nil
	}
	return kit.Result(kit.Stop(), r.release(ctx, object))
}

func (r *Reconciler) hold(ctx context.Context, object client.Object) error {
	if err := kit.EnsureFinalizer(ctx, r.Client, object, r.Protection.Finalizer); err != nil {
		return err
	}
	if r.Protection.Hold == nil {
		return nil
	}
	return r.Protection.Hold(ctx, &r.Base, object)
}

// release reads around the cache, because an old list would release too early.
//
// Some milliseconds are left: users of an object in deletion are accepted, as in Gardener, and one that is stored between the list and the removal of
// the finalizer is not seen. A second list would only move the gap, and to close it new references to what is being deleted would have to be refused.
// Who refers to an object that is gone says so in its status, and goes on when the object is made again.
func (r *Reconciler) release(ctx context.Context, object client.Object) error {
	references, err := r.Protection.References(ctx, r.Reader, r.Client.Scheme(), object)
	if err != nil {
		return fmt.Errorf("look for references to %q: %w", object.GetName(), err)
	}
	if len(references) > 0 {
		by := strings.Join(references, ", ")
		kit.Record(r.Recorder, object, kit.Notice{
			Type: r.Protection.EventType, Reason: gardencorev1beta1.EventResourceReferenced,
			Action: gardencorev1beta1.EventActionDelete, Message: "Deletion waits: still referenced by " + by,
		})
		return fmt.Errorf("release %q: still referenced by %s", object.GetName(), by)
	}
	if r.Protection.Free != nil {
		if err := r.Protection.Free(ctx, &r.Base, object); err != nil {
			return err
		}
	}
	return kit.DropFinalizer(ctx, r.Client, object, r.Protection.Finalizer)
}
