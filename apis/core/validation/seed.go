// SPDX-License-Identifier: Apache-2.0

package validation

import (
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// ValidateSeed checks a new Seed (API-VALSEED-1, 3, API-NAME-4).
func ValidateSeed(s *gardencorev1beta1.Seed) field.ErrorList {
	errs := metadata(s, false, apivalidation.NameIsDNSLabel)
	errs = append(errs, seedOperation(s, nil)...)
	return append(errs, seedSpec(&s.Spec, field.NewPath("spec"))...)
}

// ValidateSeedUpdate checks an updated Seed (API-VALSEED-2, 3).
func ValidateSeedUpdate(s, old *gardencorev1beta1.Seed) field.ErrorList {
	path := field.NewPath("spec", "networks")
	errs := metadataUpdate(s, old)
	errs = append(errs, seedOperation(s, old)...)
	errs = append(errs, immutable(s.Spec.Networks.Pods, old.Spec.Networks.Pods, path.Child("pods"))...)
	errs = append(errs, immutable(s.Spec.Networks.Services, old.Spec.Networks.Services, path.Child("services"))...)
	errs = append(errs, immutableOnceSet(s.Spec.Networks.Nodes, old.Spec.Networks.Nodes, path.Child("nodes"))...)
	errs = append(errs, immutable(orIPv4(s.Spec.Networks.IPFamilies), orIPv4(old.Spec.Networks.IPFamilies), path.Child("ipFamilies"))...)
	if old.Spec.Ingress != nil {
		now := ""
		if s.Spec.Ingress != nil {
			now = s.Spec.Ingress.Domain
		}
		errs = append(errs, immutable(now, old.Spec.Ingress.Domain, field.NewPath("spec", "ingress", "domain"))...)
	}
	if len(old.Spec.DNS.Defaults) > 0 && len(s.Spec.DNS.Defaults) == 0 {
		errs = append(errs, field.Forbidden(field.NewPath("spec", "dns", "defaults"), "can not be taken away"))
	}
	backup := field.NewPath("spec", "backup")
	switch {
	case old.Spec.Backup == nil:
	case s.Spec.Backup == nil:
		errs = append(errs, field.Forbidden(backup, "can not be taken away: the backups would be lost"))
	default:
		errs = append(errs, immutable(s.Spec.Backup.Provider, old.Spec.Backup.Provider, backup.Child("provider"))...)
		errs = append(errs, immutable(s.Spec.Backup.Region, old.Spec.Backup.Region, backup.Child("region"))...)
	}
	return append(errs, seedSpec(&s.Spec, field.NewPath("spec"))...)
}

// ValidateSeedStatusUpdate checks a new status of a Seed (API-VALSEED-2).
func ValidateSeedStatusUpdate(s, old *gardencorev1beta1.Seed) field.ErrorList {
	return immutableOnceSet(s.Status.ClusterIdentity, old.Status.ClusterIdentity, field.NewPath("status", "clusterIdentity"))
}

// seedOperation accepts only known operations, and none in place of another (API-STRAT-6).
func seedOperation(s, old *gardencorev1beta1.Seed) field.ErrorList {
	value, ok := s.Annotations[gardencorev1beta1.AnnotationOperation]
	if !ok {
		return nil
	}
	path := field.NewPath("metadata", "annotations").Key(gardencorev1beta1.AnnotationOperation)
	errs := oneOf(value, path, gardencorev1beta1.OperationReconcile, gardencorev1beta1.OperationRenewGardenAccessSecrets,
		gardencorev1beta1.OperationRenewKubeconfig, gardencorev1beta1.OperationRenewWorkloadIdentityTokens)
	if old == nil {
		return errs
	}
	if was := old.Annotations[gardencorev1beta1.AnnotationOperation]; was != "" && was != value {
		errs = append(errs, field.Forbidden(path, "the seed still has to "+was+"; wait for it or remove it first"))
	}
	return errs
}
