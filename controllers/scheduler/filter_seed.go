// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const (
	// anyProvider in a list of provider types stands for all of them.
	anyProvider = "*"
	// zonesForTolerance is the number of zones that a seed needs to survive the loss of one.
	zonesForTolerance = 3
)

// usable is SCHED-FILT-1.
func usable(_ Input, seed *gardencorev1beta1.Seed) string {
	if seed.DeletionTimestamp != nil {
		return "it is being deleted"
	}
	if settings := seed.Spec.Settings; settings != nil && settings.Scheduling != nil && !settings.Scheduling.Visible {
		return "it is hidden from the scheduler (spec.settings.scheduling.visible is false)"
	}
	if seed.Status.LastOperation == nil {
		return "its gardenlet has not prepared it yet (no last operation)"
	}
	if reason := notTrue(seed, gardencorev1beta1.ConditionTypeGardenletReady); reason != "" {
		return reason
	}
	return backups(seed)
}

// backups speaks against a seed whose backup buckets are broken, or that was not judged by them yet. One that has no bucket
// is usable: it runs its shoots without backups, and its condition says so.
func backups(seed *gardencorev1beta1.Seed) string {
	const kind = gardencorev1beta1.ConditionTypeBackupBucketsReady
	condition := kit.FindCondition(seed.Status.Conditions, kind)
	if seed.Spec.Backup == nil || condition != nil && condition.Reason == gardencorev1beta1.ReasonBackupBucketsGone {
		return ""
	}
	return notTrue(seed, kind)
}

func notTrue(seed *gardencorev1beta1.Seed, kind gardencorev1beta1.ConditionType) string {
	condition := kit.FindCondition(seed.Status.Conditions, kind)
	if condition == nil {
		return fmt.Sprintf("its condition %s is missing", kind)
	}
	if condition.Status == gardencorev1beta1.ConditionTrue {
		return ""
	}
	return fmt.Sprintf("its condition %s is %s (%s)", kind, condition.Status, condition.Reason)
}

// matchers are the label selectors of the cloud profile and of the shoot.
type matchers struct {
	ofProfile, ofShoot labels.Selector
}

func newMatchers(in Input) (matchers, error) {
	ofProfile, err := newMatcher(in.CloudProfile.Spec.SeedSelector)
	if err != nil {
		return matchers{}, fmt.Errorf("read the seed selector of cloud profile %q: %w", in.CloudProfile.Name, err)
	}
	ofShoot, err := newMatcher(in.Shoot.Spec.SeedSelector)
	if err != nil {
		return matchers{}, fmt.Errorf("read the seed selector of shoot %q: %w", in.Shoot.Name, err)
	}
	return matchers{ofProfile: ofProfile, ofShoot: ofShoot}, nil
}

func newMatcher(selector *gardencorev1beta1.SeedSelector) (labels.Selector, error) {
	if selector == nil {
		return labels.Everything(), nil
	}
	matcher, err := metav1.LabelSelectorAsSelector(&selector.LabelSelector)
	if err != nil {
		return nil, fmt.Errorf("parse selector: %w", err)
	}
	return matcher, nil
}

// profile is SCHED-FILT-2.
func (m matchers) profile(in Input, seed *gardencorev1beta1.Seed) string {
	if m.ofProfile.Matches(labels.Set(seed.Labels)) {
		return ""
	}
	return fmt.Sprintf("its labels do not match the seed selector of cloud profile %q", in.CloudProfile.Name)
}

// shoot is SCHED-FILT-3.
func (m matchers) shoot(_ Input, seed *gardencorev1beta1.Seed) string {
	if m.ofShoot.Matches(labels.Set(seed.Labels)) {
		return ""
	}
	return "its labels do not match the seed selector of the shoot"
}

// provider is SCHED-FILT-4. Provider types that the shoot lists restrict the choice further.
func provider(in Input, seed *gardencorev1beta1.Seed) string {
	allowed := []string{in.Shoot.Spec.Provider.Type}
	if selector := in.CloudProfile.Spec.SeedSelector; selector != nil && len(selector.ProviderTypes) > 0 {
		allowed = selector.ProviderTypes
	}
	if !listsProvider(allowed, seed.Spec.Provider.Type) {
		return fmt.Sprintf("its provider type is %q, cloud profile %q allows %s", seed.Spec.Provider.Type, in.CloudProfile.Name, strings.Join(allowed, ", "))
	}
	selector := in.Shoot.Spec.SeedSelector
	if selector == nil || len(selector.ProviderTypes) == 0 || listsProvider(selector.ProviderTypes, seed.Spec.Provider.Type) {
		return ""
	}
	return fmt.Sprintf("its provider type is %q, the shoot allows %s", seed.Spec.Provider.Type, strings.Join(selector.ProviderTypes, ", "))
}

func listsProvider(allowed []string, provider string) bool {
	return slices.Contains(allowed, anyProvider) || slices.Contains(allowed, provider)
}

// failureTolerance is SCHED-FILT-5.
func failureTolerance(in Input, seed *gardencorev1beta1.Seed) string {
	if !toleratesZones(in.Shoot) || len(seed.Spec.Provider.Zones) >= zonesForTolerance {
		return ""
	}
	return fmt.Sprintf("it has %d zones, failure tolerance \"zone\" needs %d", len(seed.Spec.Provider.Zones), zonesForTolerance)
}

func toleratesZones(shoot *gardencorev1beta1.Shoot) bool {
	plane := shoot.Spec.ControlPlane
	return plane != nil && plane.HighAvailability != nil && plane.HighAvailability.FailureTolerance.Type == gardencorev1beta1.FailureToleranceTypeZone
}

// accessRestrictions is SCHED-FILT-7.
func accessRestrictions(in Input, seed *gardencorev1beta1.Seed) string {
	for _, wanted := range in.Shoot.Spec.AccessRestrictions {
		has := func(have gardencorev1beta1.AccessRestriction) bool { return have.Name == wanted.Name }
		if !slices.ContainsFunc(seed.Spec.AccessRestrictions, has) {
			return fmt.Sprintf("it does not support access restriction %q", wanted.Name)
		}
	}
	return ""
}

// notStopped is SCHED-FILT-9.
func notStopped(_ Input, seed *gardencorev1beta1.Seed) string {
	if query.EmergencyStopped(seed) {
		return "reconciliation of its shoots is stopped (annotation " + gardencorev1beta1.AnnotationSeedEmergencyStop + ")"
	}
	return ""
}
