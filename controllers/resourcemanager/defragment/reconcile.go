// SPDX-License-Identifier: Apache-2.0

package defragment

import (
	"context"
	"errors"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/core/validation"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const (
	controllerName = "etcd-defragmentation"
	// again is the time between two looks at an etcd that is not healthy, and patience how long after its time it is waited for. Later it is left
	// for the next day, because it answers nobody while it is defragmented (BAK-DEFRAG-4).
	again, patience = time.Minute, time.Hour
)

// Reconciler defragments the etcds of a seed.
type Reconciler struct {
	kit.Base

	// Seed reaches the seed without a cache.
	Seed client.Reader
}

// AddToManager registers the reconciler in the manager of the seed. A cluster without StatefulSets has no etcds.
func (r *Reconciler) AddToManager(seed manager.Manager) error {
	kind := appsv1.SchemeGroupVersion.WithKind("StatefulSet")
	_, err := seed.GetRESTMapper().RESTMapping(kind.GroupKind(), kind.Version)
	if meta.IsNoMatchError(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("find out whether the seed knows %ss: %w", kind.Kind, err)
	}
	b := r.ManagedBy(seed, controllerName, kit.Queue{}).For(&appsv1.StatefulSet{}, builder.OnlyMetadata, builder.WithPredicates(scheduled()))
	return kit.Complete(b, controllerName, r)
}

// scheduled leaves out everything but new schedules.
func scheduled() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc: func(e event.CreateEvent) bool { return schedule(e.Object) != "" },
		UpdateFunc: func(e event.UpdateEvent) bool { return schedule(e.ObjectOld) != schedule(e.ObjectNew) },
		DeleteFunc: func(event.DeleteEvent) bool { return false },
	}
}

func schedule(set client.Object) string {
	return set.GetAnnotations()[gardencorev1beta1.AnnotationDefragmentationSchedule]
}

// Reconcile defragments one etcd if it is time, and comes back at the next time.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	known := &metav1.PartialObjectMetadata{}
	known.SetGroupVersionKind(appsv1.SchemeGroupVersion.WithKind("StatefulSet"))
	if err := r.Client.Get(ctx, request.NamespacedName, known); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	text := schedule(known)
	if text == "" {
		return reconcile.Result{}, nil
	}
	times, valid := validation.Cron(text)
	if !valid {
		return reconcile.Result{}, reconcile.TerminalError(fmt.Errorf("annotation %s of StatefulSet %q: %q is no schedule",
			gardencorev1beta1.AnnotationDefragmentationSchedule, request.NamespacedName, text))
	}
	now := r.Clock.Now().UTC()
	due := times.Next(now.Add(-patience))
	if due.IsZero() { // such as the 30th of February
		return reconcile.Result{}, nil
	}
	if due.After(now) {
		return reconcile.Result{RequeueAfter: due.Sub(now)}, nil
	}
	if err := r.defragment(ctx, request.NamespacedName); err != nil {
		if ctx.Err() != nil {
			return reconcile.Result{}, ctx.Err()
		}
		if !errors.Is(err, errFailed) {
			ctrl.LoggerFrom(ctx).Info("Etcd is not defragmented yet", "reason", err.Error())
			return reconcile.Result{RequeueAfter: again}, nil
		}
		ctrl.LoggerFrom(ctx).Info("Etcd is not defragmented before its next time", "reason", err.Error())
	}
	now = r.Clock.Now().UTC()
	return reconcile.Result{RequeueAfter: times.Next(now).Sub(now)}, nil
}
