// SPDX-License-Identifier: Apache-2.0

package maintenance

import (
	"slices"
	"time"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// Action is what a pass does with a shoot.
type Action string

const (
	// Rest leaves the shoot alone until its next maintenance.
	Rest Action = "Rest"
	// Maintain maintains the shoot now.
	Maintain Action = "Maintain"
	// Settle ends a maintenance that was interrupted: the shoot says that it was made, so that it only has to be reported, or it
	// cannot be made any more, because the window is closed.
	Settle Action = "Settle"
)

// Decide returns what to do with a shoot now, and when its next maintenance is due after that (GCM-MAINT-1, 3).
func Decide(shoot *gardencorev1beta1.Shoot, now time.Time) (Action, time.Time) {
	if shoot.DeletionTimestamp != nil {
		return Rest, time.Time{}
	}
	window := query.MaintenanceTimes(&shoot.Spec)
	last, begun, made := shoot.Status.LastMaintenance, begun(shoot), made(shoot)
	// A shoot that was created in the window has nothing to catch up with.
	done := shoot.CreationTimestamp.Time
	// Times far in the future are of a clock that was wrong: there would be no maintenance until then. When such a shoot was created is not known.
	const wrong = 24 * time.Hour
	if done.Sub(now) > wrong {
		done = time.Time{}
	}
	if last != nil && (!begun || made) && last.TriggeredTime.After(done) && last.TriggeredTime.Sub(now) < wrong {
		done = last.TriggeredTime.Time
	}
	due := window.Due(now, done, string(shoot.UID))
	next := window.Due(now, now, string(shoot.UID))
	switch {
	case asked(shoot), !due.After(now), begun && !made && window.Contains(now):
		return Maintain, next
	case begun:
		return Settle, due
	default:
		return Rest, due
	}
}

// begun reports whether a maintenance of a shoot was announced and has not ended.
func begun(shoot *gardencorev1beta1.Shoot) bool {
	last := shoot.Status.LastMaintenance
	return last != nil && last.State == gardencorev1beta1.LastOperationStateProcessing
}

// triggered returns the time of a maintenance that is made now. Another try has that of the first, so that it need not be announced again, unless
// the next maintenance would then be due at another time, or the first one had a clock that was wrong.
func triggered(shoot *gardencorev1beta1.Shoot, now time.Time) time.Time {
	if !begun(shoot) || made(shoot) {
		return now
	}
	first, window := shoot.Status.LastMaintenance.TriggeredTime.Time, query.MaintenanceTimes(&shoot.Spec)
	next := func(done time.Time) time.Time { return window.Due(now, done, string(shoot.UID)) }
	if first.After(now) || !next(first).Equal(next(now)) {
		return now
	}
	return first
}

// made reports whether the maintenance that was announced last was written, so that nothing of it is left but the report.
func made(shoot *gardencorev1beta1.Shoot) bool {
	return begun(shoot) && shoot.Annotations[gardencorev1beta1.AnnotationShootMaintained] == stamp(*shoot.Status.LastMaintenance)
}

// stamp is what the write of an announced maintenance leaves in the annotations.
func stamp(announced gardencorev1beta1.LastMaintenance) string {
	return announced.TriggeredTime.UTC().Format(time.RFC3339)
}

// asked reports whether the owner of a shoot wants it maintained now.
func asked(shoot *gardencorev1beta1.Shoot) bool {
	return slices.Contains(query.Operations(shoot.Annotations[gardencorev1beta1.AnnotationOperation]), gardencorev1beta1.OperationMaintain)
}
