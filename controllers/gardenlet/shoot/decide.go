// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"slices"
	"strconv"
	"time"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// Action is what a pass does with a shoot.
type Action string

const (
	// ActionNone leaves the shoot alone.
	ActionNone Action = "None"
	// ActionSync writes the Cluster object only, so that extensions see the shoot as it is.
	ActionSync Action = "Sync"
	// ActionRelease removes the finalizer: there is nothing in the seed.
	ActionRelease Action = "Release"
	// ActionRefuse tells the owner why the operation may not begin.
	ActionRefuse Action = "Refuse"
	// ActionRun runs the operation.
	ActionRun Action = "Run"
)

// Decision is what a pass does, and when the next one is due without an event.
type Decision struct {
	Action    Action
	Operation gardencorev1beta1.LastOperationType
	// After is zero if only an event starts the next pass.
	After time.Duration
}

// Settings are what a decision depends on beside the shoot.
type Settings struct {
	// SeedName is the seed of this gardenlet, Version the version of Gardener that it is.
	SeedName, Version string
	// SyncPeriod is the time between two reconciliations without an event.
	SyncPeriod time.Duration
	// RespectOverwrites honours the annotations for the sync period and for ignoring a shoot in every namespace.
	RespectOverwrites bool
}

// Decide says what to do with a shoot now.
func Decide(shoot *gardencorev1beta1.Shoot, s Settings, now time.Time) Decision {
	if Responsible(shoot) != s.SeedName || s.SeedName == "" {
		return Decision{Action: ActionNone}
	}
	operation := OperationType(shoot)
	if shoot.DeletionTimestamp != nil {
		if !slices.Contains(shoot.Finalizers, gardencorev1beta1.FinalizerGardener) {
			return Decision{Action: ActionNone}
		}
		if shoot.Status.UID == "" {
			return Decision{Action: ActionRelease, Operation: operation}
		}
	}
	switch {
	case ignored(shoot, s):
		return Decision{Action: ActionSync, Operation: operation}
	case Refusal(shoot) != nil:
		return Decision{Action: ActionRefuse, Operation: operation}
	case awaitsOwner(shoot, s):
		return Decision{Action: ActionSync, Operation: operation}
	}
	last := shoot.Status.LastOperation
	upToDate := shoot.Generation == shoot.Status.ObservedGeneration && last != nil &&
		last.State == gardencorev1beta1.LastOperationStateSucceeded && shoot.Status.Gardener.Version == s.Version
	if shoot.DeletionTimestamp != nil || !upToDate {
		return Decision{Action: ActionRun, Operation: operation}
	}
	period := syncPeriod(shoot, s)
	if period <= 0 {
		return Decision{Action: ActionNone, Operation: operation}
	}
	if due := last.LastUpdateTime.Add(period); now.Before(due) {
		return Decision{Action: ActionNone, Operation: operation, After: due.Sub(now)}
	}
	return Decision{Action: ActionRun, Operation: operation}
}

// Responsible is the name of the seed whose gardenlet acts on the shoot: the one that runs it, or else the one that is to.
func Responsible(shoot *gardencorev1beta1.Shoot) string {
	if shoot.Status.SeedName != nil && *shoot.Status.SeedName != "" {
		return *shoot.Status.SeedName
	}
	if shoot.Spec.SeedName != nil {
		return *shoot.Spec.SeedName
	}
	return ""
}

// OperationType is what the next run is: a deletion wins, an operation that did not end is taken up again.
func OperationType(shoot *gardencorev1beta1.Shoot) gardencorev1beta1.LastOperationType {
	last := shoot.Status.LastOperation
	switch {
	case shoot.DeletionTimestamp != nil:
		return gardencorev1beta1.LastOperationTypeDelete
	case last == nil:
		return gardencorev1beta1.LastOperationTypeCreate
	case last.Type == gardencorev1beta1.LastOperationTypeCreate && last.State != gardencorev1beta1.LastOperationStateSucceeded:
		return gardencorev1beta1.LastOperationTypeCreate
	default:
		return gardencorev1beta1.LastOperationTypeReconcile
	}
}

// awaitsOwner tells whether the last operation has failed for good: the block ends with a new generation or another version of Gardener.
func awaitsOwner(shoot *gardencorev1beta1.Shoot, s Settings) bool {
	last := shoot.Status.LastOperation
	return last != nil && last.State == gardencorev1beta1.LastOperationStateFailed &&
		shoot.Generation == shoot.Status.ObservedGeneration && shoot.Status.Gardener.Version == s.Version
}

func ignored(shoot *gardencorev1beta1.Shoot, s Settings) bool {
	if !overwrites(shoot, s) {
		return false
	}
	ignore, err := strconv.ParseBool(shoot.Annotations[gardencorev1beta1.AnnotationShootIgnore])
	return err == nil && ignore
}

// syncPeriod is the configured period, or a longer one that the shoot asks for; 0 switches periodic runs off.
func syncPeriod(shoot *gardencorev1beta1.Shoot, s Settings) time.Duration {
	text := shoot.Annotations[gardencorev1beta1.AnnotationShootSyncPeriod]
	if text == "" || !overwrites(shoot, s) {
		return s.SyncPeriod
	}
	period, err := time.ParseDuration(text)
	if err != nil || (period != 0 && period < s.SyncPeriod) {
		return s.SyncPeriod
	}
	return period
}

func overwrites(shoot *gardencorev1beta1.Shoot, s Settings) bool {
	return s.RespectOverwrites || shoot.Namespace == gardencorev1beta1.NamespaceGarden
}
