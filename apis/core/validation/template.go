// SPDX-License-Identifier: Apache-2.0

package validation

import (
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// ValidateShootTemplate checks the template of a Shoot. The image of its machines is optional, because it is chosen when a
// Shoot is created from it.
func ValidateShootTemplate(t *gardencorev1beta1.ShootTemplate, path *field.Path) field.ErrorList {
	return shootTemplate(t, nil, path)
}

func shootTemplate(t *gardencorev1beta1.ShootTemplate, stored *gardencorev1beta1.ShootSpec, path *field.Path) field.ErrorList {
	errs := labels(t.Labels, path.Child("metadata", "labels"))
	errs = append(errs, apivalidation.ValidateAnnotations(t.Annotations, path.Child("metadata", "annotations"))...)
	where := place{namespace: gardencorev1beta1.NamespaceGarden, template: true, stored: stored}
	return append(errs, shootSpec(&t.Spec, where, path.Child("spec"))...)
}

// ValidateShootTemplateUpdate checks an updated template: it is valid, and its changes would be allowed in the Shoots that
// were created from the old one.
func ValidateShootTemplateUpdate(t, old *gardencorev1beta1.ShootTemplate, path *field.Path) field.ErrorList {
	return append(shootSpecUpdate(&t.Spec, &old.Spec, path.Child("spec")), shootTemplate(t, &old.Spec, path)...)
}
