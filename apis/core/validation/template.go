// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"strings"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// ValidateShootTemplate checks what Shoots of operators are made from: such a Shoot would be valid.
func ValidateShootTemplate(t *gardencorev1beta1.ShootTemplate, path *field.Path) field.ErrorList {
	return append(templateMetadata(&t.ObjectMeta, path.Child("metadata")), below(ValidateShoot(shootFrom(t)), path)...)
}

// ValidateShootTemplateUpdate checks an updated template: such a Shoot would be valid, and could be updated so.
func ValidateShootTemplateUpdate(t, old *gardencorev1beta1.ShootTemplate, path *field.Path) field.ErrorList {
	return append(templateMetadata(&t.ObjectMeta, path.Child("metadata")), below(ValidateShootUpdate(shootFrom(t), shootFrom(old)), path)...)
}

func templateMetadata(m *metav1.ObjectMeta, path *field.Path) field.ErrorList {
	errs := metav1validation.ValidateLabels(m.Labels, path.Child("labels"))
	return append(errs, apivalidation.ValidateAnnotations(m.Annotations, path.Child("annotations"))...)
}

// shootFrom is a Shoot made from a template, with a name in place of the one that it will get.
func shootFrom(t *gardencorev1beta1.ShootTemplate) *gardencorev1beta1.Shoot {
	return &gardencorev1beta1.Shoot{
		ObjectMeta: metav1.ObjectMeta{
			Name: "template", Namespace: gardencorev1beta1.NamespaceGarden, ResourceVersion: "1",
			Labels: map[string]string{}, Annotations: map[string]string{},
		},
		Spec: *t.Spec.DeepCopy(),
	}
}

// below moves complaints about the spec of an object to where the object is described; the object itself has no
// metadata to complain about.
func below(errs field.ErrorList, path *field.Path) field.ErrorList {
	var moved field.ErrorList
	for _, err := range errs {
		if strings.HasPrefix(err.Field, "spec") {
			there := *err
			there.Field = path.String() + "." + err.Field
			moved = append(moved, &there)
		}
	}
	return moved
}
