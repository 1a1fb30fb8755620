// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"k8s.io/apimachinery/pkg/api/equality"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
)

// Type is the type of the extension objects that this provider acts on.
const Type = "local"

// Mine tells whether this provider acts on the object: by type, by class (a shoot's, as long as nothing else is configured), and not while
// the state for it is still being brought.
func Mine(object gardenextensionsv1alpha1.Object) bool {
	spec := object.GetExtensionSpec()
	ofShoot := spec.Class == nil || *spec.Class == "" || *spec.Class == gardenextensionsv1alpha1.ExtensionClassShoot
	return spec.Type == Type && ofShoot && object.GetAnnotations()[gardencorev1beta1.AnnotationOperation] != gardencorev1beta1.OperationWaitForState
}

// StartsOnCreate tells whether an object that appears, also at the start of the controller, has to be acted on.
func StartsOnCreate(object gardenextensionsv1alpha1.Object) bool {
	last := object.GetExtensionStatus().LastOperation
	return asked(object) || object.GetDeletionTimestamp() != nil || last == nil || last.State != gardencorev1beta1.LastOperationStateSucceeded
}

// StartsOnUpdate tells whether a change of an object has to be acted on. A change of the status alone never is, or the end of a
// run would start the next one.
func StartsOnUpdate(before, after gardenextensionsv1alpha1.Object) bool {
	if asked(after) {
		return true
	}
	return after.GetDeletionTimestamp() != nil && equality.Semantic.DeepEqual(before.GetExtensionStatus(), after.GetExtensionStatus())
}

func asked(object gardenextensionsv1alpha1.Object) bool {
	switch object.GetAnnotations()[gardencorev1beta1.AnnotationOperation] {
	case gardencorev1beta1.OperationReconcile, gardencorev1beta1.OperationMigrate, gardencorev1beta1.OperationRestore:
		return true
	default:
		return false
	}
}

// Operation returns which operation a run on the object is. An operation that began as creation, migration or restoration stays that until it
// succeeded.
func Operation(object gardenextensionsv1alpha1.Object) gardencorev1beta1.LastOperationType {
	annotation := object.GetAnnotations()[gardencorev1beta1.AnnotationOperation]
	last := object.GetExtensionStatus().LastOperation
	switch {
	case annotation == gardencorev1beta1.OperationMigrate:
		return gardencorev1beta1.LastOperationTypeMigrate
	case object.GetDeletionTimestamp() != nil:
		return gardencorev1beta1.LastOperationTypeDelete
	case annotation == gardencorev1beta1.OperationRestore:
		return gardencorev1beta1.LastOperationTypeRestore
	case last == nil:
		return gardencorev1beta1.LastOperationTypeCreate
	case last.State == gardencorev1beta1.LastOperationStateSucceeded:
		return gardencorev1beta1.LastOperationTypeReconcile
	}
	switch last.Type {
	case gardencorev1beta1.LastOperationTypeCreate, gardencorev1beta1.LastOperationTypeMigrate, gardencorev1beta1.LastOperationTypeRestore:
		return last.Type
	default:
		return gardencorev1beta1.LastOperationTypeReconcile
	}
}

// Migrated tells whether the object was handed over to another seed: then only a further migration or a restoration acts on it.
func Migrated(object gardenextensionsv1alpha1.Object) bool {
	last := object.GetExtensionStatus().LastOperation
	return last != nil && last.Type == gardencorev1beta1.LastOperationTypeMigrate && last.State == gardencorev1beta1.LastOperationStateSucceeded
}
