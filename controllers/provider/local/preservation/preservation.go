// SPDX-License-Identifier: Apache-2.0

// Package preservation decides which machines are kept: such a machine is not replaced although it has failed, and not taken away although
// it is hardly used, so that somebody can look at it. It knows Machines only; package machines brings what follows to pods and nodes.
package preservation

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardenmachinev1alpha1 "github.com/terrarium-garden/terrarium/apis/machine/v1alpha1"
)

// defaultTimeout is how long a machine is kept if its pool does not say.
const defaultTimeout = 96 * time.Hour

// Wish is what the annotations say about a Machine: what its node has said when it was last seen, or else what the Machine says. It is empty
// if they say nothing that is known.
func Wish(m *gardenmachinev1alpha1.Machine) string {
	for _, key := range []string{gardenmachinev1alpha1.AnnotationNodePreserve, gardenmachinev1alpha1.AnnotationPreserve} {
		switch wish := m.Annotations[key]; wish {
		case gardenmachinev1alpha1.PreserveNow, gardenmachinev1alpha1.PreserveWhenFailed, gardenmachinev1alpha1.PreserveFalse:
			return wish
		case gardenmachinev1alpha1.PreserveAuto:
			if key == gardenmachinev1alpha1.AnnotationPreserve {
				return wish
			}
		}
	}
	return ""
}

// Failed reports whether a machine has failed.
func Failed(m *gardenmachinev1alpha1.Machine) bool {
	return m.Status.CurrentStatus.Phase == gardenmachinev1alpha1.MachineFailed
}

// Over reports whether the time is over for which a machine was kept.
func Over(m *gardenmachinev1alpha1.Machine, now time.Time) bool {
	end := m.Status.CurrentStatus.PreserveExpiryTime
	return end != nil && !now.Before(end.Time)
}

// Kept reports whether a machine is kept.
func Kept(m *gardenmachinev1alpha1.Machine, now time.Time) bool {
	return wanted(m) && !Over(m, now)
}

func wanted(m *gardenmachinev1alpha1.Machine) bool {
	switch Wish(m) {
	case gardenmachinev1alpha1.PreserveNow:
		return true
	case gardenmachinev1alpha1.PreserveWhenFailed, gardenmachinev1alpha1.PreserveAuto:
		return Failed(m)
	default:
		return false
	}
}

// Open reports whether a machine has failed without anybody having said whether it is to be kept, and may still be kept.
func Open(m *gardenmachinev1alpha1.Machine, now time.Time) bool {
	return Failed(m) && Wish(m) == "" && !Over(m, now)
}

// End is until when a machine is kept that has this phase by now; nil if it is not. A machine of which nothing is left is kept no longer than
// until now. The time that a failed machine had stays when it is over: so it is not kept once more.
func End(m *gardenmachinev1alpha1.Machine, gone bool, now time.Time) *metav1.Time {
	end := m.Status.CurrentStatus.PreserveExpiryTime
	switch {
	case Failed(m) && gone:
		if Over(m, now) {
			return end
		}
		return new(metav1.NewTime(now))
	case wanted(m) && end == nil:
		timeout := defaultTimeout
		if set := m.Spec.PreserveTimeout; set != nil {
			timeout = set.Duration
		}
		return new(metav1.NewTime(now.Add(timeout)))
	case wanted(m), Failed(m) && Over(m, now):
		return end
	default:
		return nil
	}
}
