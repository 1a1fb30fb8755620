// SPDX-License-Identifier: Apache-2.0

// Package managedresources judges what the resource manager reports about ManagedResources of a seed.
package managedresources

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
)

const reasonMissingCondition = "MissingManagedResourceCondition"

// Patience says how long ManagedResources may be progressing.
type Patience struct {
	// Threshold is the longest time; none at all if it is 0 (GLET-CARE-12).
	Threshold time.Duration
	// Now is the time.
	Now time.Time
}

// Judge returns reason and message about the first of the ManagedResources, by name, that is not well. Both are empty if all are.
func Judge(all []gardenresourcesv1alpha1.ManagedResource, p Patience) (reason, message string) {
	all = slices.SortedFunc(slices.Values(all), func(a, b gardenresourcesv1alpha1.ManagedResource) int { return cmp.Compare(a.Name, b.Name) })
	for i := range all {
		if reason, why := p.one(&all[i]); reason != "" {
			return reason, fmt.Sprintf("ManagedResource %q: %s", all[i].Name, why)
		}
	}
	return "", ""
}

// one judges one ManagedResource (GLET-SEEDCARE-3).
func (p Patience) one(r *gardenresourcesv1alpha1.ManagedResource) (reason, why string) {
	applied := query.FindCondition(r.Status.Conditions, gardenresourcesv1alpha1.ConditionTypeResourcesApplied)
	if applied != nil && applied.Status == gardencorev1beta1.ConditionFalse && applied.Reason == gardenresourcesv1alpha1.ReasonApplyFailed {
		return applied.Reason, applied.Message // It says why the generation is not observed, too.
	}
	if r.Status.ObservedGeneration != r.Generation {
		return gardencorev1beta1.ReasonOutdatedStatus, fmt.Sprintf("generation %d is not observed, only %d", r.Generation, r.Status.ObservedGeneration)
	}
	for _, kind := range []gardencorev1beta1.ConditionType{gardenresourcesv1alpha1.ConditionTypeResourcesApplied, gardenresourcesv1alpha1.ConditionTypeResourcesHealthy} {
		c := query.FindCondition(r.Status.Conditions, kind)
		if c == nil {
			return reasonMissingCondition, fmt.Sprintf("it has no condition %s", kind)
		}
		if c.Status != gardencorev1beta1.ConditionTrue {
			return c.Reason, c.Message
		}
	}
	c := query.FindCondition(r.Status.Conditions, gardenresourcesv1alpha1.ConditionTypeResourcesProgressing)
	switch {
	case c == nil:
		return reasonMissingCondition, fmt.Sprintf("it has no condition %s", gardenresourcesv1alpha1.ConditionTypeResourcesProgressing)
	case c.Status == gardencorev1beta1.ConditionFalse:
		return "", ""
	case p.Threshold <= 0:
		return c.Reason, c.Message
	case p.Now.Sub(c.LastTransitionTime.Time) > p.Threshold:
		return gardencorev1beta1.ReasonProgressingRolloutStuck, fmt.Sprintf("it has been progressing for longer than %s: %s", p.Threshold, c.Message)
	default:
		return "", ""
	}
}
