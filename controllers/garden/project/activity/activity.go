// SPDX-License-Identifier: Apache-2.0

// Package activity records in the status of each Project when something last happened in it (GCM-ACTIVITY-1, GCM-ACTIVITY-2):
// to its Shoots, its BackupEntries, its Plants, its Quotas, and the credentials that bindings name.
package activity

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const controllerName = "project-activity"

// Reconciler records activity.
type Reconciler struct {
	kit.Base

	// Config is the section of the configuration.
	Config gardenconfigv1alpha1.ConcurrencyConfiguration
}

// AddToManager implements kit.Adder. Changes of the projects themselves are not activity.
func (r *Reconciler) AddToManager(clusters kit.Clusters) error {
	b := r.Controller(clusters, controllerName, kit.Workers(r.Config.ConcurrentSyncs))
	to := handler.EnqueueRequestsFromMapFunc(r.owner)
	work := builder.WithPredicates(Work(r.Clock))
	b.Watches(&gardencorev1beta1.Shoot{}, to, work).
		Watches(&gardencorev1beta1.BackupEntry{}, to, work).
		Watches(&gardencorev1beta1.Plant{}, to, work).
		Watches(&gardencorev1beta1.Quota{}, to, builder.WithPredicates(Everything(r.Clock, anyQuota))).
		WatchesMetadata(&corev1.Secret{}, to, builder.WithPredicates(Everything(r.Clock, inUse)))
	return kit.Complete(b, controllerName, reconcile.AsReconciler(r.Client, r))
}

// owner enqueues the project of an object's namespace, which carries its name. To compare all projects would cost more for each
// new shoot with each project of the garden.
func (r *Reconciler) owner(ctx context.Context, object client.Object) []reconcile.Request {
	namespace := &corev1.Namespace{}
	if err := r.Client.Get(ctx, client.ObjectKey{Name: object.GetNamespace()}, namespace, client.UnsafeDisableDeepCopy); err != nil {
		return nil // It is gone, and so is its project.
	}
	name := namespace.Labels[gardencorev1beta1.LabelProjectName]
	if name == "" {
		return nil
	}
	return []reconcile.Request{{NamespacedName: client.ObjectKey{Name: name}}}
}

// Reconcile records that something happened. All events of one second need only one write.
func (r *Reconciler) Reconcile(ctx context.Context, project *gardencorev1beta1.Project) (reconcile.Result, error) {
	commit := kit.Begin(r.Client, project)
	Note(&project.Status, r.Clock.Now())
	return commit.Status(ctx, kit.Stop(), nil)
}

// young is the age below which an object that is seen for the first time is new. After a restart all objects are seen for
// the first time, which is not activity.
const young = time.Hour

// Work counts the creation of a Shoot, a BackupEntry or a Plant and the changes of its spec, but not those of its status, which controllers
// make, nor its deletion.
func Work(c clock.PassiveClock) predicate.Predicate {
	return predicate.Funcs{
		CreateFunc:  func(e event.CreateEvent) bool { return isNew(c, e.Object) },
		UpdateFunc:  func(e event.UpdateEvent) bool { return e.ObjectOld.GetGeneration() != e.ObjectNew.GetGeneration() },
		DeleteFunc:  func(event.DeleteEvent) bool { return false },
		GenericFunc: func(event.GenericEvent) bool { return false },
	}
}

// Everything counts all events of an object that matters. For an update it is enough that it mattered before or matters now. An
// update without another version is none: from time to time the cache reports all its objects again, so that an unused project
// would never become stale (GCM-ACTIVITY-2).
func Everything(c clock.PassiveClock, matters func(client.Object) bool) predicate.Predicate {
	return predicate.Funcs{
		CreateFunc: func(e event.CreateEvent) bool { return matters(e.Object) && isNew(c, e.Object) },
		UpdateFunc: func(e event.UpdateEvent) bool {
			return e.ObjectOld.GetResourceVersion() != e.ObjectNew.GetResourceVersion() && (matters(e.ObjectOld) || matters(e.ObjectNew))
		},
		DeleteFunc:  func(e event.DeleteEvent) bool { return matters(e.Object) },
		GenericFunc: func(event.GenericEvent) bool { return false },
	}
}

func isNew(c clock.PassiveClock, object client.Object) bool {
	return c.Now().Sub(object.GetCreationTimestamp().Time) < young
}

func anyQuota(client.Object) bool { return true }

// inUse reports whether a binding names a Secret.
func inUse(secret client.Object) bool {
	labels := secret.GetLabels()
	return labels[gardencorev1beta1.LabelReferenceSecretBinding] == "true" || labels[gardencorev1beta1.LabelReferenceCredentialsBinding] == "true"
}

// Note records that something happened.
func Note(status *gardencorev1beta1.ProjectStatus, now time.Time) {
	stamp := metav1.NewTime(now.Truncate(time.Second))
	if last := status.LastActivityTimestamp; last == nil || last.Before(&stamp) {
		status.LastActivityTimestamp = &stamp
	}
}
