// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// ValidateQuota checks a new Quota (API-VALQ-1).
func ValidateQuota(q *gardencorev1beta1.Quota) field.ErrorList {
	return append(metadata(q, true, apivalidation.NameIsDNSSubdomain), quotaSpec(&q.Spec, field.NewPath("spec"))...)
}

// ValidateQuotaUpdate checks an updated Quota (API-VALQ-1).
func ValidateQuotaUpdate(q, old *gardencorev1beta1.Quota) field.ErrorList {
	path := field.NewPath("spec")
	errs := metadataUpdate(q, old)
	errs = append(errs, immutable(q.Spec.Scope, old.Spec.Scope, path.Child("scope"))...)
	return append(errs, quotaSpec(&q.Spec, path)...)
}

func quotaSpec(s *gardencorev1beta1.QuotaSpec, path *field.Path) field.ErrorList {
	errs := quotaScope(&s.Scope, path.Child("scope"))
	metrics := []corev1.ResourceName{
		gardencorev1beta1.QuotaMetricCPU, gardencorev1beta1.QuotaMetricGPU, gardencorev1beta1.QuotaMetricMemory,
		gardencorev1beta1.QuotaMetricStorageStandard, gardencorev1beta1.QuotaMetricStoragePremium,
		gardencorev1beta1.QuotaMetricLoadbalancer,
	}
	for _, metric := range slices.Sorted(maps.Keys(s.Metrics)) {
		here := path.Child("metrics").Key(string(metric))
		if !slices.Contains(metrics, metric) {
			errs = append(errs, field.Invalid(here, string(metric), fmt.Sprintf("must be one of %q", metrics)))
		}
		if value := s.Metrics[metric]; value.Sign() < 0 {
			errs = append(errs, field.Invalid(here, value.String(), "must not be negative"))
		}
	}
	if days := s.ClusterLifetimeDays; days != nil && *days <= 0 {
		errs = append(errs, field.Invalid(path.Child("clusterLifetimeDays"), *days, "must be at least 1"))
	}
	return errs
}

// quotaScope checks the scope of a quota: a project, or a kind of credentials that a binding can refer to.
func quotaScope(ref *corev1.ObjectReference, path *field.Path) field.ErrorList {
	of := schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind).GroupKind()
	project := schema.GroupKind{Group: gardencorev1beta1.GroupName, Kind: "Project"}
	identity := schema.GroupKind{Group: "security.gardener.cloud", Kind: "WorkloadIdentity"}
	if of == project || of == identity || ref.APIVersion == "v1" && ref.Kind == "Secret" {
		return nil
	}
	return field.ErrorList{field.NotSupported(path, of.String(), []string{project.String(), "Secret", identity.String()})}
}
