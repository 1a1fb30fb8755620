// SPDX-License-Identifier: Apache-2.0

package validation

import (
	autoscalingv1 "k8s.io/api/autoscaling/v1"
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
		errs = append(errs, given(data.Name, path.Child("gardener").Index(i).Child("name"))...)
	}
	for i, state := range s.Extensions {
		here := path.Child("extensions").Index(i)
		errs = append(errs, given(state.Kind, here.Child("kind"))...)
		if state.Purpose != nil {
			errs = append(errs, given(*state.Purpose, here.Child("purpose"))...)
		}
		errs = append(errs, stateResources(state.Resources, here.Child("resources"))...)
	}
	for i, r := range s.Resources {
		ref := autoscalingv1.CrossVersionObjectReference{APIVersion: r.APIVersion, Kind: r.Kind, Name: r.Name}
		errs = append(errs, secretOrConfigMap(ref, path.Child("resources").Index(i))...)
	}
	return errs
}

// stateResources checks the objects that the state of an extension refers to; their names are unique.
func stateResources(all []gardencorev1beta1.NamedResourceReference, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	seen := map[string]bool{}
	for i, r := range all {
		here := path.Index(i)
		errs = append(errs, required(r.Name, here.Child("name"), "the reference")...)
		if r.Name != "" && seen[r.Name] {
			errs = append(errs, field.Duplicate(here.Child("name"), r.Name))
		}
		seen[r.Name] = true
		errs = append(errs, secretOrConfigMap(r.ResourceRef, here.Child("resourceRef"))...)
	}
	return errs
}

// secretOrConfigMap checks a reference to one of the kinds whose contents move with a shoot.
func secretOrConfigMap(ref autoscalingv1.CrossVersionObjectReference, path *field.Path) field.ErrorList {
	errs := oneOfRequired(ref.APIVersion, path.Child("apiVersion"), "the version of the kind", "v1")
	errs = append(errs, oneOfRequired(ref.Kind, path.Child("kind"), "a kind", "Secret", "ConfigMap")...)
	return append(errs, required(ref.Name, path.Child("name"), "an object")...)
}

func oneOfRequired(value string, path *field.Path, what string, allowed ...string) field.ErrorList {
	if value == "" {
		return required(value, path, what)
	}
	return oneOf(value, path, allowed...)
}
