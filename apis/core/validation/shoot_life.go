// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// sleeping reports whether a shoot is hibernated, or is being hibernated or woken up.
func sleeping(s *gardencorev1beta1.Shoot) bool {
	return query.HibernationWanted(s) || s.Status.Hibernated
}

// hibernationUpdate rejects hibernation while a rotation or a change of the encryption is in progress that needs a
// running cluster (API-VALSHOOT-23).
func hibernationUpdate(s, old *gardencorev1beta1.Shoot) field.ErrorList {
	if !query.HibernationWanted(s) || query.HibernationWanted(old) {
		return nil
	}
	path := field.NewPath("spec", "hibernation", "enabled")
	phases := query.RotationPhases(old)
	var errs field.ErrorList
	for _, one := range []struct {
		what  string
		phase gardencorev1beta1.CredentialsRotationPhase
	}{{"etcd encryption key", phases.ETCDEncryptionKey}, {"service account key", phases.ServiceAccountKey}} {
		switch one.phase {
		case gardencorev1beta1.CredentialsRotationPhasePreparing, gardencorev1beta1.CredentialsRotationPhasePreparingWithoutWorkersRollout,
			gardencorev1beta1.CredentialsRotationPhaseCompleting:
			errs = append(errs, field.Forbidden(path, "cannot be enabled while the rotation of the "+one.what+" is "+string(one.phase)))
		default:
		}
	}
	if query.EncryptionPending(old) || changesEncryption(s, old) {
		errs = append(errs, field.Forbidden(path, "cannot be enabled while a change of the encryption is being rolled out"))
	}
	return errs
}

// changesEncryption reports whether an update itself begins a change of the encryption, which would have to be rolled out while
// the shoot sleeps.
func changesEncryption(s, old *gardencorev1beta1.Shoot) bool {
	now, before := query.EncryptionAtRest(&s.Spec), query.EncryptionAtRest(&old.Spec)
	if now.Provider == before.Provider && slices.Equal(now.Resources, before.Resources) {
		return false
	}
	next := old.DeepCopy()
	next.Spec = s.Spec
	next.Generation++ // That the former change was refused says nothing about this one.
	return query.EncryptionPending(next)
}

// restless rejects the hibernation of a shoot with an operation for its next maintenance that needs a running cluster
// (API-VALOP-10).
func restless(s *gardencorev1beta1.Shoot) field.ErrorList {
	if !query.HibernationWanted(s) {
		return nil
	}
	var errs field.ErrorList
	for _, op := range query.Operations(s.Annotations[gardencorev1beta1.AnnotationMaintenanceOperation]) {
		if needsAwake(op) {
			errs = append(errs, field.Forbidden(field.NewPath("spec", "hibernation", "enabled"),
				"cannot be enabled while the next maintenance is to "+op))
		}
	}
	return errs
}

// forceDeletion checks that a force deletion is requested only during a deletion that failed with one of five error codes, and is
// never taken back (API-VALSHOOT-25).
func forceDeletion(s, old *gardencorev1beta1.Shoot) field.ErrorList {
	path := field.NewPath("metadata", "annotations").Key(gardencorev1beta1.AnnotationConfirmationForceDeletion)
	before := old != nil && forced(old)
	now := forced(s)
	switch {
	case now == before:
		return nil
	case before:
		return field.ErrorList{field.Forbidden(path, "cannot be removed")}
	}
	var errs field.ErrorList
	if s.DeletionTimestamp == nil {
		errs = append(errs, field.Forbidden(path, "can be set only on a shoot that is being deleted"))
	}
	if !slices.ContainsFunc(s.Status.LastErrors, unsolvable) {
		errs = append(errs, field.Forbidden(path, "can be set only if the deletion failed with an error that the owner of the shoot has to solve"))
	}
	return errs
}

func forced(s *gardencorev1beta1.Shoot) bool {
	yes, _ := strconv.ParseBool(s.Annotations[gardencorev1beta1.AnnotationConfirmationForceDeletion])
	return yes
}

// unsolvable reports whether the garden cannot solve an error by itself.
func unsolvable(e gardencorev1beta1.LastError) bool {
	return slices.ContainsFunc(e.Codes, func(code gardencorev1beta1.ErrorCode) bool {
		switch code {
		case gardencorev1beta1.ErrorCodeInfraUnauthenticated, gardencorev1beta1.ErrorCodeInfraUnauthorized,
			gardencorev1beta1.ErrorCodeInfraDependencies, gardencorev1beta1.ErrorCodeCleanupClusterResources,
			gardencorev1beta1.ErrorCodeConfigurationProblem:
			return true
		default:
			return false
		}
	})
}
