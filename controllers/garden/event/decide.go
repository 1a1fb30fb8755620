// SPDX-License-Identifier: Apache-2.0

package event

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// AboutShoot reports whether an Event is about a Shoot, in any version of its API (GCM-EVENT-2).
func AboutShoot(e *corev1.Event) bool {
	about := schema.FromAPIVersionAndKind(e.InvolvedObject.APIVersion, e.InvolvedObject.Kind)
	return about.GroupKind() == schema.GroupKind{Group: gardencorev1beta1.GroupName, Kind: "Shoot"}
}

// LastSeen is when an Event happened last. Writers of today set the time of the series or of the Event, older ones the last
// timestamp; for one that has none of them it is when it was written (GCM-EVENT-3).
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
