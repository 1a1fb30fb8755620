// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"k8s.io/apimachinery/pkg/api/equality"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
)

// Type is the type of the extension objects that this provider acts on.
const Type = "local"

// Mine reports whether this provider acts on the object: its type is local, its class is empty or shoot, and it does not wait for the
// state of a migration.
func Mine(object gardenextensionsv1alpha1.Object) bool {
	spec := object.GetExtensionSpec()
	ofShoot := spec.Class == nil || *spec.Class == "" || *spec.Class == gardenextensionsv1alpha1.ExtensionClassShoot
	return spec.Type == Type && ofShoot && object.GetAnnotations()[gardencorev1beta1.AnnotationOperation] != gardencorev1beta1.OperationWaitForState
}

// StartsOnCreate reports whether a new object, or one that exists when the controller starts, has to be acted on.
func StartsOnCreate(object gardenextensionsv1alpha1.Object) bool {
	last := object.GetExtensionStatus().LastOperation
	return asked(object) || object.GetDeletionTimestamp() != nil || last == nil || last.State != gardencorev1beta1.LastOperationStateSucceeded
}

// StartsOnUpdate reports whether a change of an object has to be acted on. A change of the status alone is ignored, otherwise the end
// of a run would start the next one.
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

// Operation returns the type of the operation for a run on the object. A creation, migration or restoration keeps its type until it has
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

// Migrated reports whether the object was migrated to another seed. Then only another migration or a restoration acts on it.
func Migrated(object gardenextensionsv1alpha1.Object) bool {
	last := object.GetExtensionStatus().LastOperation
	return last != nil && last.Type == gardencorev1beta1.LastOperationTypeMigrate && last.State == gardencorev1beta1.LastOperationStateSucceeded
}
