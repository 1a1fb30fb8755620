// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/rotation"
	lastoperation "github.com/terrarium-garden/terrarium/controllers/operation"
)

// Action is what a pass does with a shoot.
type Action string

const (
	// ActionNone leaves the shoot alone.
	ActionNone Action = "None"
	// ActionSync writes the Cluster object only.
	ActionSync Action = "Sync"
	// ActionRelease removes the finalizer, because no run has begun that could have made something in the seed.
	ActionRelease Action = "Release"
	// ActionRefuse reports why the operation may not begin.
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
	// InMaintenanceOnly makes periodic reconciliations happen once in every maintenance time window.
	InMaintenanceOnly bool
	// RespectOverwrites honours the annotations for the sync period and for ignoring a shoot in all namespaces.
	RespectOverwrites bool
}

// Decide returns what to do with a shoot now.
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
	upToDate := shoot.Generation == shoot.Status.ObservedGeneration && lastoperation.Succeeded(last) && !rotation.Continues(shoot)
	if shoot.DeletionTimestamp != nil || !upToDate || updated(shoot, s) {
		return Decision{Action: ActionRun, Operation: operation}
	}
	switch due := due(shoot, s, last.LastUpdateTime.Time, now); {
	case due.IsZero():
		return Decision{Action: ActionNone, Operation: operation}
	case now.Before(due):
		return Decision{Action: ActionNone, Operation: operation, After: due.Sub(now)}
	default:
		return Decision{Action: ActionRun, Operation: operation}
	}
}

// due returns when a shoot that is as its owner wants it is reconciled again, after it was reconciled at the given time; it is zero
// if it never is. One whose changes are confined to its maintenance time window must not be reconciled outside of it, because that
// would roll them out (GLET-SHOOT-11 to 14).
func due(shoot *gardencorev1beta1.Shoot, s Settings, last, now time.Time) time.Time {
	if window, confined := windowOf(shoot, s); confined {
		return window.Due(now, last, string(shoot.UID))
	}
	period := syncPeriod(shoot, s)
	if period <= 0 {
		return time.Time{}
	}
	return last.Add(period)
}

// windowOf returns the time in which a shoot is reconciled without a reason of its own, and whether there is such a time.
func windowOf(shoot *gardencorev1beta1.Shoot, s Settings) (query.Window, bool) {
	window, ok := query.MaintenanceWindow(&shoot.Spec)
	return window, ok && (s.InMaintenanceOnly || query.Confined(&shoot.Spec))
}

// updated reports whether another version of Gardener than this one has reconciled a shoot last, so that it is reconciled at once. One with a window
// waits for it: what is new in this version, and what its owner has changed since, is rolled out in the window only (GLET-SHOOT-11, 12).
func updated(shoot *gardencorev1beta1.Shoot, s Settings) bool {
	_, confined := windowOf(shoot, s)
	return !confined && shoot.Status.Gardener.Version != s.Version
}

// Responsible returns the name of the seed whose gardenlet acts on the shoot: the one that runs it, or else the one it is bound to.
func Responsible(shoot *gardencorev1beta1.Shoot) string {
	return query.ResponsibleSeed(shoot.Spec.SeedName, shoot.Status.SeedName)
}

// OperationType returns the type of the next run: a deletion takes precedence, and a creation that did not succeed continues.
func OperationType(shoot *gardencorev1beta1.Shoot) gardencorev1beta1.LastOperationType {
	last := shoot.Status.LastOperation
	switch {
	case shoot.DeletionTimestamp != nil:
		return gardencorev1beta1.LastOperationTypeDelete
	case last == nil, last.Type == gardencorev1beta1.LastOperationTypeCreate && !lastoperation.Succeeded(last):
		return gardencorev1beta1.LastOperationTypeCreate
	default:
		return gardencorev1beta1.LastOperationTypeReconcile
	}
}

// awaitsOwner reports whether the last operation has failed for good. A new generation or another version of Gardener begins anew.
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

// syncPeriod is the configured period, or a longer one that the shoot asks for; 0 disables periodic runs.
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

// CheckSeed returns an error if no operation may run on the shoots of a seed now: this process has to reconcile the seed first, and
// the seed has to be healthy. A seed in deletion is exempt, because its shoots can only be deleted. In an emergency, an operator
// may stop all operations, also deletions.
func CheckSeed(seed *gardencorev1beta1.Seed, identity gardencorev1beta1.Gardener) error {
	if query.EmergencyStopped(seed) {
		return fmt.Errorf("an operator has stopped all operations on the shoots of seed %q (annotation %s)", seed.Name, gardencorev1beta1.AnnotationSeedEmergencyStop)
	}
	if seed.DeletionTimestamp != nil {
		return nil
	}
	if seed.Status.Gardener == nil || *seed.Status.Gardener != identity {
		return fmt.Errorf("seed %q was not yet reconciled by this gardenlet", seed.Name)
	}
	if seed.Status.ObservedGeneration != seed.Generation {
		return fmt.Errorf("seed %q was changed and is not yet reconciled", seed.Name)
	}
	for _, kind := range []gardencorev1beta1.ConditionType{
		gardencorev1beta1.ConditionTypeGardenletReady, gardencorev1beta1.ConditionTypeSeedSystemComponentsHealthy,
	} {
		switch condition := query.FindCondition(seed.Status.Conditions, kind); {
		case condition == nil:
			return fmt.Errorf("seed %q has no condition %s yet", seed.Name, kind)
		case condition.Status != gardencorev1beta1.ConditionTrue:
			return fmt.Errorf("seed %q is not healthy: condition %s is %s: %s", seed.Name, kind, condition.Status, condition.Message)
		}
	}
	return nil
}
