// SPDX-License-Identifier: Apache-2.0

package activity

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// young is the age below which an object that is seen for the first time is new. After a restart everything is seen for the
// first time, and that is no activity.
const young = time.Hour

// Work counts what is done to a Shoot or a BackupEntry: that it comes, and that somebody wants something else of it. Its
// status and its end are the doing of machines.
func Work(c clock.PassiveClock) predicate.Predicate {
	return predicate.Funcs{
		CreateFunc:  func(e event.CreateEvent) bool { return isNew(c, e.Object) },
		UpdateFunc:  func(e event.UpdateEvent) bool { return e.ObjectOld.GetGeneration() != e.ObjectNew.GetGeneration() },
		DeleteFunc:  func(event.DeleteEvent) bool { return false },
		GenericFunc: func(event.GenericEvent) bool { return false },
	}
}

// Everything counts whatever is done to an object that matters; of a change it may matter before or after.
func Everything(c clock.PassiveClock, matters func(client.Object) bool) predicate.Predicate {
	return predicate.Funcs{
		CreateFunc:  func(e event.CreateEvent) bool { return matters(e.Object) && isNew(c, e.Object) },
		UpdateFunc:  func(e event.UpdateEvent) bool { return matters(e.ObjectOld) || matters(e.ObjectNew) },
		DeleteFunc:  func(e event.DeleteEvent) bool { return matters(e.Object) },
		GenericFunc: func(event.GenericEvent) bool { return false },
	}
}

func isNew(c clock.PassiveClock, object client.Object) bool {
	return c.Now().Sub(object.GetCreationTimestamp().Time) < young
}

func anyQuota(client.Object) bool { return true }

// inUse tells whether a Secret is named by a binding.
func inUse(secret client.Object) bool {
	labels := secret.GetLabels()
	return labels[gardencorev1beta1.LabelReferenceSecretBinding] == "true" || labels[gardencorev1beta1.LabelReferenceCredentialsBinding] == "true"
}

// Note writes down that something happened.
func Note(status *gardencorev1beta1.ProjectStatus, now time.Time) {
	stamp := metav1.NewTime(now.Truncate(time.Second))
	if last := status.LastActivityTimestamp; last == nil || last.Before(&stamp) {
		status.LastActivityTimestamp = &stamp
	}
}
