// SPDX-License-Identifier: Apache-2.0

package stale

import (
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// Periods are the times that pass until a project is deleted.
type Periods struct {
	// Minimum is how long a project is not stale after its creation and after something happened in it.
	Minimum time.Duration
	// Grace is how long it is stale before the time of its deletion is announced.
	Grace time.Duration
	// Expiration is how long it is stale before it is deleted.
	Expiration time.Duration
}

// Active reports whether a project was created, or something happened in it, less than the minimum lifetime ago (GCM-STALE-3).
func Active(project *gardencorev1beta1.Project, minimum time.Duration, now time.Time) bool {
	last := project.CreationTimestamp.Time
	if activity := project.Status.LastActivityTimestamp; activity != nil && activity.After(last) {
		last = activity.Time
	}
	return now.Before(last.Add(minimum))
}

// Exempt reports whether an operator has exempted the project of a namespace (GCM-STALE-3). That of the operators themselves
// never becomes stale: the garden needs its Secrets, whether or not there are shoots beside them.
func Exempt(namespace *corev1.Namespace) bool {
	if namespace.Name == gardencorev1beta1.NamespaceGarden {
		return true
	}
	skip, err := strconv.ParseBool(namespace.Annotations[gardencorev1beta1.AnnotationProjectSkipStaleCheck])
	return err == nil && skip
}

// Note writes into the status of a project whether it is stale (GCM-STALE-3, GCM-STALE-5). The time of its deletion never comes
// nearer, so that a shorter period in a new configuration does not surprise those who were told another time.
func Note(status *gardencorev1beta1.ProjectStatus, stale bool, periods Periods, now time.Time) {
	if !stale {
		status.StaleSinceTimestamp, status.StaleAutoDeleteTimestamp = nil, nil
		return
	}
	if status.StaleSinceTimestamp == nil {
		status.StaleSinceTimestamp = new(metav1.NewTime(now.Truncate(time.Second)))
	}
	since := status.StaleSinceTimestamp.Time
	if now.Before(since.Add(periods.Grace)) {
		status.StaleAutoDeleteTimestamp = nil
		return
	}
	end := metav1.NewTime(since.Add(periods.Expiration))
	if announced := status.StaleAutoDeleteTimestamp; announced == nil || announced.Before(&end) {
		status.StaleAutoDeleteTimestamp = &end
	}
}

// Due reports whether the time of deletion in the status of a project has come (GCM-STALE-6).
func Due(status *gardencorev1beta1.ProjectStatus, now time.Time) bool {
	end := status.StaleAutoDeleteTimestamp
	return end != nil && !now.Before(end.Time)
}
