// SPDX-License-Identifier: Apache-2.0

package reach

import (
	"errors"
	"fmt"
	"maps"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// ErrOthers rejects metadata that clients of seeds and of shoots have no need to change.
var ErrOthers = errors.New("gardenlets and extensions cannot change this")

// SameOwners rejects a change of the owners of an object.
func SameOwners(object, old metav1.Object) error {
	if equality.Semantic.DeepEqual(object.GetOwnerReferences(), old.GetOwnerReferences()) {
		return nil
	}

	return fmt.Errorf("metadata.ownerReferences: %w", ErrOthers)
}

// OnlyOwnMarks rejects changes of metadata with which the client could have an object deleted that it may not delete: the garbage
// collector deletes an object whose owners do not exist, if its deletion is confirmed, and a controller confirms the deletion of a shoot
// itself when the time is over that its quota allows.
func OnlyOwnMarks(object, old metav1.Object) error {
	if err := SameOwners(object, old); err != nil {
		return err
	}
	now, before := object.GetAnnotations(), old.GetAnnotations()
	for _, key := range []string{
		gardencorev1beta1.AnnotationConfirmationDeletion, gardencorev1beta1.AnnotationConfirmationForceDeletion,
		gardencorev1beta1.AnnotationShootExpirationTimestamp,
	} {
		if now[key] != before[key] {
			return fmt.Errorf("metadata.annotations[%s]: %w", key, ErrOthers)
		}
	}

	return OnlyOwnFinalizer(object, old)
}

// OnlyOwnFinalizer rejects changes of finalizers other than that of gardenlets.
func OnlyOwnFinalizer(object, old metav1.Object) error {
	others := func(all []string) map[string]bool {
		set := map[string]bool{}
		for _, f := range all {
			set[f] = true
		}
		delete(set, gardencorev1beta1.FinalizerGardener)
		return set
	}
	if !maps.Equal(others(object.GetFinalizers()), others(old.GetFinalizers())) {
		return fmt.Errorf("metadata.finalizers: only %q can be changed: %w", gardencorev1beta1.FinalizerGardener, ErrOthers)
	}

	return nil
}
