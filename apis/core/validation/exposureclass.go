// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// maxHandler is how long the handler of an exposure class may be: it becomes part of a namespace name (API-NAME-6).
const maxHandler = 34

// ValidateExposureClass checks a new ExposureClass (API-NAME-6).
func ValidateExposureClass(c *gardencorev1beta1.ExposureClass) field.ErrorList {
	return append(metadata(c, false, apivalidation.NameIsDNSLabel), exposureClass(c)...)
}

// ValidateExposureClassUpdate checks an updated ExposureClass: its handler and scheduling are immutable (API-NAME-6).
func ValidateExposureClassUpdate(c, old *gardencorev1beta1.ExposureClass) field.ErrorList {
	errs := metadataUpdate(c, old)
	errs = append(errs, immutable(c.Handler, old.Handler, field.NewPath("handler"))...)
	errs = append(errs, immutable(c.Scheduling, old.Scheduling, field.NewPath("scheduling"))...)
	return append(errs, exposureClass(c)...)
}

func exposureClass(c *gardencorev1beta1.ExposureClass) field.ErrorList {
	errs := label(c.Handler, field.NewPath("handler"))
	if len(c.Handler) > maxHandler {
		errs = append(errs, field.Invalid(field.NewPath("handler"), c.Handler, fmt.Sprintf("must not be longer than %d characters", maxHandler)))
	}
	s, path := c.Scheduling, field.NewPath("scheduling")
	if s == nil {
		return errs
	}
	if s.SeedSelector != nil {
		errs = append(errs, selectorOfSeeds(&s.SeedSelector.LabelSelector, path.Child("seedSelector"))...)
	}
	return append(errs, tolerations(s.Tolerations, path.Child("tolerations"))...)
}
