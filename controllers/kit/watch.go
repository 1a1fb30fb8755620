// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/terrarium-garden/terrarium/apis/check"
)

// Keys returns the keys of the named objects in a namespace, which is empty for kinds without namespaces. Names that are nil
// are left out.
func Keys(namespace string, names ...*string) []types.NamespacedName {
	var keys []types.NamespacedName
	for _, name := range names {
		if name != nil {
			keys = append(keys, types.NamespacedName{Namespace: namespace, Name: *name})
		}
	}
	return keys
}

// EnqueueNamed enqueues the objects that a changed object names.
func EnqueueNamed[O client.Object](named func(O) []types.NamespacedName) handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(_ context.Context, object client.Object) []reconcile.Request {
		changed, ok := object.(O)
		if !ok {
			return nil
		}
		var requests []reconcile.Request
		for _, key := range named(changed) {
			requests = append(requests, reconcile.Request{NamespacedName: key})
		}
		return requests
	})
}

// EnqueueMatching enqueues the objects of the kind of the list that match a changed object. The reader must read from the
// cache: a list that fails there also fails the manager, so no event is lost for good.
func EnqueueMatching[O client.Object](reader client.Reader, list client.ObjectList, matches func(changed client.Object, candidate O) bool) handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, changed client.Object) []reconcile.Request {
		candidates, ok := list.DeepCopyObject().(client.ObjectList)
		if !ok || reader.List(ctx, candidates, client.UnsafeDisableDeepCopy) != nil {
			return nil
		}
		var requests []reconcile.Request
		_ = meta.EachListItem(candidates, func(item runtime.Object) error {
			if candidate, ok := item.(O); ok && matches(changed, candidate) {
				requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(candidate)})
			}
			return nil
		})
		return requests
	})
}

// Matching lets through the events of objects that match. Of an update, the new object counts.
func Matching[O client.Object](matches func(O) bool) predicate.Predicate {
	return predicate.NewPredicateFuncs(anyKind(matches))
}

// Touching lets through the events of objects that match. Of an update, it is enough that one of the two objects matches, so that
// it is also seen that an object matches no more.
func Touching[O client.Object](matches func(O) bool) predicate.Predicate {
	of := anyKind(matches)
	touching := predicate.NewPredicateFuncs(of)
	touching.UpdateFunc = func(e event.UpdateEvent) bool { return of(e.ObjectOld) || of(e.ObjectNew) }
	return touching
}

// anyKind makes a function for objects of all kinds out of one for objects of one kind. Objects of other kinds do not match.
func anyKind[O client.Object](matches func(O) bool) func(client.Object) bool {
	return func(object client.Object) bool {
		typed, ok := object.(O)
		return ok && matches(typed)
	}
}

// Changed lets through the updates that change the facts of an object, and all other events.
func Changed[O client.Object](facts func(O) any) predicate.Funcs {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, ok := e.ObjectOld.(O)
		after, same := e.ObjectNew.(O)
		return ok && same && !check.Equal(facts(before), facts(after))
	}}
}
