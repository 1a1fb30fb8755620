// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/extensions"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
)

// starts lets through the events that start a run (EXT-OP-6). An object that is acted on again and again, or without being asked for, is
// looked at when the controller starts.
func (r *Reconciler[T]) starts() predicate.Predicate {
	object := func(o client.Object) gardenextensionsv1alpha1.Object {
		extension, _ := o.(gardenextensionsv1alpha1.Object)
		return extension
	}
	return predicate.Funcs{
		CreateFunc: func(e event.CreateEvent) bool {
			after := object(e.Object)
			return Mine(after) && (StartsOnCreate(after) || r.Resync > 0 || r.Unasked)
		},
		UpdateFunc: func(e event.UpdateEvent) bool {
			after := object(e.ObjectNew)
			changed := r.Unasked && e.ObjectOld.GetGeneration() != after.GetGeneration()
			return Mine(after) && (StartsOnUpdate(object(e.ObjectOld), after) || changed)
		},
		DeleteFunc:  func(event.DeleteEvent) bool { return false },
		GenericFunc: func(event.GenericEvent) bool { return false },
	}
}

// watchMore watches what the work depends on, for a controller that does not wait until it is asked (EXT-OP-7).
func (r *Reconciler[T]) watchMore(b *builder.Builder) *builder.Builder {
	if !r.Unasked {
		return b
	}
	return b.
		Watches(&gardenextensionsv1alpha1.Cluster{}, handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, cluster client.Object) []reconcile.Request {
			return r.requests(ctx, func(o T) bool { return o.GetNamespace() == cluster.GetName() })
		}), builder.WithPredicates(changes())).
		Watches(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, secret client.Object) []reconcile.Request {
			return r.requests(ctx, func(o T) bool { return secretOf(o) == client.ObjectKeyFromObject(secret) })
		}), builder.OnlyMetadata, builder.WithPredicates(changes()))
}

// changes lets through what has changed since the controller started, and not what it finds then.
func changes() predicate.Predicate {
	return predicate.And(predicate.ResourceVersionChangedPredicate{}, predicate.Funcs{
		CreateFunc:  func(e event.CreateEvent) bool { return !e.IsInInitialList },
		DeleteFunc:  func(event.DeleteEvent) bool { return false },
		GenericFunc: func(event.GenericEvent) bool { return false },
	})
}

// requests are those for the objects that match. The list comes from the cache; when that fails, so does the manager.
func (r *Reconciler[T]) requests(ctx context.Context, matches func(T) bool) []reconcile.Request {
	list := extensions.KindOf(r.New()).NewList()
	if r.Client.List(ctx, list) != nil {
		return nil
	}
	var requests []reconcile.Request
	_ = meta.EachListItem(list, func(item runtime.Object) error {
		if object, ok := item.(T); ok && Mine(object) && matches(object) {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(object)})
		}
		return nil
	})
	return requests
}

// secretOf is the key of the Secret that an object refers to; empty for kinds without one.
func secretOf(object gardenextensionsv1alpha1.Object) client.ObjectKey {
	var ref corev1.SecretReference
	switch o := object.(type) {
	case *gardenextensionsv1alpha1.BackupBucket:
		ref = o.Spec.SecretRef
	case *gardenextensionsv1alpha1.BackupEntry:
		ref = o.Spec.SecretRef
	case *gardenextensionsv1alpha1.ControlPlane:
		ref = o.Spec.SecretRef
	case *gardenextensionsv1alpha1.DNSRecord:
		ref = o.Spec.SecretRef
	case *gardenextensionsv1alpha1.Infrastructure:
		ref = o.Spec.SecretRef
	case *gardenextensionsv1alpha1.Worker:
		ref = o.Spec.SecretRef
	}
	return client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}
}

// due reports whether an object has to be acted on now. If not, after is the time until it has to be, or 0 if that is open.
func (r *Reconciler[T]) due(object T) (now bool, after time.Duration) {
	if StartsOnCreate(object) || r.Unasked {
		return true, 0
	}
	if r.Resync <= 0 || Migrated(object) {
		return false, 0
	}
	after = r.Resync - r.Clock.Since(object.GetExtensionStatus().LastOperation.LastUpdateTime.Time)
	return after <= 0, max(after, 0)
}

// again is the time after which an object that was acted on has to be acted on again, or 0.
func (r *Reconciler[T]) again(kind gardencorev1beta1.LastOperationType) time.Duration {
	if kind == gardencorev1beta1.LastOperationTypeDelete || kind == gardencorev1beta1.LastOperationTypeMigrate {
		return 0
	}
	return r.Resync
}
