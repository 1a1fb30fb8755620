// SPDX-License-Identifier: Apache-2.0

package validation

import (
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// ValidateShootTemplate checks what Shoots of operators are made from. It may leave open what is chosen when a Shoot is
// made: the image of its machines.
func ValidateShootTemplate(t *gardencorev1beta1.ShootTemplate, path *field.Path) field.ErrorList {
	return shootTemplate(t, nil, path)
}

func shootTemplate(t *gardencorev1beta1.ShootTemplate, stored *gardencorev1beta1.ShootSpec, path *field.Path) field.ErrorList {
	errs := labels(t.Labels, path.Child("metadata", "labels"))
	errs = append(errs, apivalidation.ValidateAnnotations(t.Annotations, path.Child("metadata", "annotations"))...)
	where := place{namespace: gardencorev1beta1.NamespaceGarden, template: true, stored: stored}
	return append(errs, shootSpec(&t.Spec, where, path.Child("spec"))...)
}

// ValidateShootTemplateUpdate checks an updated template: it is one, and Shoots that were made from the former one could
// follow it.
func ValidateShootTemplateUpdate(t, old *gardencorev1beta1.ShootTemplate, path *field.Path) field.ErrorList {
	return append(shootSpecUpdate(&t.Spec, &old.Spec, path.Child("spec")), shootTemplate(t, &old.Spec, path)...)
}
