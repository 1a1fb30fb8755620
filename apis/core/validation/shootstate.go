// SPDX-License-Identifier: Apache-2.0

package validation

import (
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// ValidateShootState checks a new ShootState (API-VALSS-1).
func ValidateShootState(s *gardencorev1beta1.ShootState) field.ErrorList {
	return append(metadata(s, true, apivalidation.NameIsDNSLabel), shootStateSpec(&s.Spec, field.NewPath("spec"))...)
}

// ValidateShootStateUpdate checks an updated ShootState (API-VALSS-1).
func ValidateShootStateUpdate(s, old *gardencorev1beta1.ShootState) field.ErrorList {
	return append(metadataUpdate(s, old), shootStateSpec(&s.Spec, field.NewPath("spec"))...)
}

func shootStateSpec(s *gardencorev1beta1.ShootStateSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, data := range s.Gardener {
		errs = append(errs, required(data.Name, path.Child("gardener").Index(i).Child("name"), "the data")...)
	}
	for i, state := range s.Extensions {
		here := path.Child("extensions").Index(i)
		errs = append(errs, required(state.Kind, here.Child("kind"), "the kind of the extension object")...)
		if state.Purpose != nil {
			errs = append(errs, required(*state.Purpose, here.Child("purpose"), "a purpose when present")...)
		}
	}
	return errs
}
