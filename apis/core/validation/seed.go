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
	return append(errs, seedSpec(&s.Spec, field.NewPath("spec"), false)...)
}

// ValidateSeedUpdate checks an updated Seed (API-VALSEED-2, 3).
func ValidateSeedUpdate(s, old *gardencorev1beta1.Seed) field.ErrorList {
	path := field.NewPath("spec")
	errs := metadataUpdate(s, old)
	errs = append(errs, seedOperation(s, old)...)
	errs = append(errs, seedSpecUpdate(&s.Spec, &old.Spec, path)...)
	return append(errs, seedSpec(&s.Spec, path, false)...)
}

// ValidateSeedTemplate checks the template of a Seed. Fields that are derived from the shoot that becomes the seed are
// optional.
func ValidateSeedTemplate(t *gardencorev1beta1.SeedTemplate, path *field.Path) field.ErrorList {
	errs := labels(t.Labels, path.Child("metadata", "labels"))
	errs = append(errs, apivalidation.ValidateAnnotations(t.Annotations, path.Child("metadata", "annotations"))...)
	return append(errs, seedSpec(&t.Spec, path.Child("spec"), true)...)
}

// ValidateSeedTemplateUpdate checks an updated template: the immutable fields of a Seed are immutable in it too.
func ValidateSeedTemplateUpdate(t, old *gardencorev1beta1.SeedTemplate, path *field.Path) field.ErrorList {
	return seedSpecUpdate(&t.Spec, &old.Spec, path.Child("spec"))
}

func seedSpecUpdate(s, old *gardencorev1beta1.SeedSpec, path *field.Path) field.ErrorList {
	networks := path.Child("networks")
	errs := immutable(s.Networks.Pods, old.Networks.Pods, networks.Child("pods"))
	errs = append(errs, immutable(s.Networks.Services, old.Networks.Services, networks.Child("services"))...)
	errs = append(errs, immutableOnceSet(s.Networks.Nodes, old.Networks.Nodes, networks.Child("nodes"))...)
	errs = append(errs, immutable(orIPv4(s.Networks.IPFamilies), orIPv4(old.Networks.IPFamilies), networks.Child("ipFamilies"))...)
	if old.Ingress != nil && s.Ingress != nil {
		errs = append(errs, immutable(s.Ingress.Domain, old.Ingress.Domain, path.Child("ingress", "domain"))...)
	}
	if len(old.DNS.Defaults) > 0 && len(s.DNS.Defaults) == 0 {
		errs = append(errs, field.Forbidden(path.Child("dns", "defaults"), "cannot be removed"))
	}
	backup := path.Child("backup")
	switch {
	case old.Backup == nil:
	case s.Backup == nil:
		errs = append(errs, immutable(s.Backup, old.Backup, backup)...)
	default:
		errs = append(errs, immutable(s.Backup.Provider, old.Backup.Provider, backup.Child("provider"))...)
		errs = append(errs, immutable(s.Backup.Region, old.Backup.Region, backup.Child("region"))...)
	}
	return errs
}

// ValidateSeedStatusUpdate checks a new status of a Seed (API-VALSEED-2).
func ValidateSeedStatusUpdate(s, old *gardencorev1beta1.Seed) field.ErrorList {
	return immutableOnceSet(s.Status.ClusterIdentity, old.Status.ClusterIdentity, field.NewPath("status", "clusterIdentity"))
}

// seedOperation checks that an operation is known and does not replace another one (API-STRAT-6).
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
