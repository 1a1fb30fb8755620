// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// sleeping tells whether a shoot is hibernated, or on its way there or back.
func sleeping(s *gardencorev1beta1.Shoot) bool {
	return query.HibernationWanted(s) || s.Status.Hibernated
}

// hibernationUpdate lets a shoot go to sleep only when nothing is going on that needs it awake (API-VALSHOOT-23,
// API-VALOP-10).
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
		if one.phase == gardencorev1beta1.CredentialsRotationPhasePreparing || one.phase == gardencorev1beta1.CredentialsRotationPhaseCompleting {
			errs = append(errs, field.Forbidden(path, "can not be switched on while the rotation of the "+one.what+" is "+string(one.phase)))
		}
	}
	if query.EncryptionPending(old) {
		errs = append(errs, field.Forbidden(path, "can not be switched on while a change of the encrypted resources is being rolled out"))
	}
	for _, op := range query.Operations(s.Annotations[gardencorev1beta1.AnnotationMaintenanceOperation]) {
		if needsAwake(op) {
			errs = append(errs, field.Forbidden(path, "can not be switched on while the next maintenance is to "+op))
		}
	}
	return errs
}

// forceDeletion holds API-VALSHOOT-25.
func forceDeletion(s, old *gardencorev1beta1.Shoot) field.ErrorList {
	path := field.NewPath("metadata", "annotations").Key(gardencorev1beta1.AnnotationConfirmationForceDeletion)
	before := old != nil && forced(old)
	switch now := forced(s); {
	case now == before:
		return nil
	case before:
		return field.ErrorList{field.Forbidden(path, "can not be taken back")}
	case s.DeletionTimestamp == nil:
		return field.ErrorList{field.Forbidden(path, "only a shoot that is being deleted can be deleted by force")}
	case !slices.ContainsFunc(s.Status.LastErrors, unsolvable):
		return field.ErrorList{field.Forbidden(path, "only a shoot whose deletion failed for a reason that its owner has to solve can be deleted by force")}
	default:
		return nil
	}
}

func forced(s *gardencorev1beta1.Shoot) bool {
	yes, err := strconv.ParseBool(s.Annotations[gardencorev1beta1.AnnotationConfirmationForceDeletion])
	return err == nil && yes
}

// unsolvable tells whether the garden can not get over an error by itself.
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
