// SPDX-License-Identifier: Apache-2.0

// Package event deletes Events that are not about Shoots some time after they last happened, so that a garden can keep
// those about Shoots longer (GCM-EVENT-1 to GCM-EVENT-3).
package event

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const controllerName = "event"

// Reconciler deletes Events.
type Reconciler struct {
	kit.Base

	// Config is the section of the configuration; nil if Events are not to be deleted.
	Config *gardenconfigv1alpha1.ServerEventControllerConfiguration
}

// AddToManager implements kit.Adder. Without its section of the configuration nothing is watched (GCM-EVENT-1).
func (r *Reconciler) AddToManager(clusters kit.Clusters) error {
	if r.Config == nil {
		clusters.LeaveOut.Has(controllerName) // To leave it out as well is no mistake.
		return nil
	}
	// The time of an Event that happens again is read when the Event would be deleted.
	appears := predicate.Funcs{
		UpdateFunc: func(event.UpdateEvent) bool { return false },
		DeleteFunc: func(event.DeleteEvent) bool { return false },
	}
	b := r.Controller(clusters, controllerName, kit.Workers(r.Config.ConcurrentSyncs)).
		For(&corev1.Event{}, builder.WithPredicates(appears, predicate.Not(kit.Matching(AboutShoot))))
	return kit.Complete(b, controllerName, reconcile.AsReconciler(r.Client, r))
}

// Reconcile deletes the Event once it is old enough. An Event that has just happened again has another version and stays.
func (r *Reconciler) Reconcile(ctx context.Context, e *corev1.Event) (reconcile.Result, error) {
	if AboutShoot(e) {
		return reconcile.Result{}, nil
	}
	if left := LastSeen(e).Add(r.Config.TTLNonShootEvents.Duration).Sub(r.Clock.Now()); left > 0 {
		return kit.Result(kit.RequeueAfter(left), nil)
	}
	seen := client.Preconditions{UID: &e.UID, ResourceVersion: &e.ResourceVersion}
	if err := r.Client.Delete(ctx, e, seen); client.IgnoreNotFound(err) != nil {
		return kit.Result(kit.Stop(), fmt.Errorf("delete event %q: %w", client.ObjectKeyFromObject(e), err))
	}
	return reconcile.Result{}, nil
}

// AboutShoot reports whether an Event is about a Shoot, in any version of its API (GCM-EVENT-2).
func AboutShoot(e *corev1.Event) bool {
	about := schema.FromAPIVersionAndKind(e.InvolvedObject.APIVersion, e.InvolvedObject.Kind)
	return about.GroupKind() == schema.GroupKind{Group: gardencorev1beta1.GroupName, Kind: "Shoot"}
}

// LastSeen is when an Event last happened: the time of its series or its event time, the last timestamp that older clients
// set, or else the time of its creation (GCM-EVENT-3).
func LastSeen(e *corev1.Event) time.Time {
	switch {
	case e.Series != nil && !e.Series.LastObservedTime.IsZero():
		return e.Series.LastObservedTime.Time
	case !e.EventTime.IsZero():
		return e.EventTime.Time
	case !e.LastTimestamp.IsZero():
		return e.LastTimestamp.Time
	default:
		return e.CreationTimestamp.Time
	}
}
