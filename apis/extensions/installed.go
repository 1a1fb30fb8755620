// SPDX-License-Identifier: Apache-2.0

package extensions

import (
	"slices"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// Installed reports whether an installation stays and is valid, installed and healthy.
func Installed(i *gardencorev1beta1.ControllerInstallation) bool {
	for _, kind := range []gardencorev1beta1.ConditionType{
		gardencorev1beta1.ConditionTypeValid, gardencorev1beta1.ConditionTypeInstalled, gardencorev1beta1.ConditionTypeHealthy,
	} {
		c := query.FindCondition(i.Status.Conditions, kind)
		if c == nil || c.Status != gardencorev1beta1.ConditionTrue {
			return false
		}
	}
	return i.DeletionTimestamp == nil
}

// Awaited returns the needs that no installed extension serves: it would have to be registered for them as the primary one, and for
// such a cluster. The installations are those of one seed.
func Awaited(
	all []Need, installations []gardencorev1beta1.ControllerInstallation, registrations []gardencorev1beta1.ControllerRegistration,
) []Need {
	return slices.DeleteFunc(slices.Clone(all), func(n Need) bool {
		return slices.ContainsFunc(registrations, func(r gardencorev1beta1.ControllerRegistration) bool {
			return n.OfferedBy(r) && slices.ContainsFunc(installations, func(i gardencorev1beta1.ControllerInstallation) bool {
				return i.Spec.RegistrationRef.Name == r.Name && Installed(&i)
			})
		})
	})
}
