// SPDX-License-Identifier: Apache-2.0

package validation

import (
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/util/version"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// ValidateShoot checks a new Shoot (API-VALSHOOT-1, 24).
func ValidateShoot(s *gardencorev1beta1.Shoot) field.ErrorList {
	errs := metadata(s, true, apivalidation.NameIsDNSLabel)
	errs = append(errs, noDoubleHyphen(s.Name, field.NewPath("metadata", "name"))...)
	for i, f := range s.Finalizers {
		if f == gardencorev1beta1.FinalizerGardener || f == gardencorev1beta1.FinalizerReferenceProtection {
			path := field.NewPath("metadata", "finalizers").Index(i)
			errs = append(errs, field.Forbidden(path, "is set by the garden, never on create"))
		}
	}
	errs = append(errs, shootOperation(s, nil)...)
	errs = append(errs, forceDeletion(s, nil)...)
	return append(errs, shootObject(s)...)
}

// ValidateShootUpdate checks an updated Shoot (API-VALSHOOT-2, 3, 5, 6, 20, 22, 23, 25, 26, API-BIND-1).
func ValidateShootUpdate(s, old *gardencorev1beta1.Shoot) field.ErrorList {
	path := field.NewPath("spec", "seedName")
	errs := metadataUpdate(s, old)
	if deref(s.Spec.SeedName) != deref(old.Spec.SeedName) {
		errs = append(errs, field.Forbidden(path, "can only be changed through the subresource shoots/binding"))
	}
	return append(errs, shootUpdate(s, old)...)
}

// ValidateShootBindingUpdate checks a write to shoots/binding (API-BIND-1, 2).
func ValidateShootBindingUpdate(s, old *gardencorev1beta1.Shoot) field.ErrorList {
	path := field.NewPath("spec", "seedName")
	errs := metadataUpdate(s, old)
	switch {
	case s.Spec.SeedName == nil:
		errs = append(errs, field.Required(path, "a binding names a seed"))
	case old.Spec.SeedName != nil && *old.Spec.SeedName == *s.Spec.SeedName:
		errs = append(errs, field.Invalid(path, *s.Spec.SeedName, "the shoot is bound to this seed already"))
	case old.Spec.SeedName != nil:
		same := s.Spec.DeepCopy()
		same.SeedName = old.Spec.SeedName
		if !apiequality.Semantic.DeepEqual(same, &old.Spec) {
			errs = append(errs, field.Forbidden(field.NewPath("spec"), "nothing but the seed may change with a new seed"))
		}
	}
	return append(errs, shootUpdate(s, old)...)
}

// ValidateShootStatusUpdate checks a new status of a Shoot (API-VALSHOOT-2, 21).
func ValidateShootStatusUpdate(s, old *gardencorev1beta1.Shoot) field.ErrorList {
	path := field.NewPath("status")
	errs := immutableOnceSet(s.Status.ClusterIdentity, old.Status.ClusterIdentity, path.Child("clusterIdentity"))
	if old.Status.UID != "" {
		errs = append(errs, immutable(s.Status.UID, old.Status.UID, path.Child("uid"))...)
	}
	if old.Status.TechnicalID != "" {
		errs = append(errs, immutable(s.Status.TechnicalID, old.Status.TechnicalID, path.Child("technicalID"))...)
	}
	return append(errs, advertisedAddresses(s.Status.AdvertisedAddresses, path.Child("advertisedAddresses"))...)
}

func shootUpdate(s, old *gardencorev1beta1.Shoot) field.ErrorList {
	path := field.NewPath("spec")
	errs := shootOperation(s, old)
	errs = append(errs, forceDeletion(s, old)...)
	if s.DeletionTimestamp != nil {
		return append(errs, frozen(s, s.Spec, old.Spec)...)
	}
	errs = append(errs, immutable(s.Spec.Region, old.Spec.Region, path.Child("region"))...)
	errs = append(errs, immutable(s.Spec.Provider.Type, old.Spec.Provider.Type, path.Child("provider", "type"))...)
	errs = append(errs, cloudProfileUpdate(&s.Spec, &old.Spec, path.Child("cloudProfile"))...)
	errs = append(errs, credentialsUpdate(&s.Spec, &old.Spec, path)...)
	errs = append(errs, immutableOnceSet(s.Spec.SchedulerName, old.Spec.SchedulerName, path.Child("schedulerName"))...)
	errs = append(errs, immutable(s.Spec.ExposureClassName, old.Spec.ExposureClassName, path.Child("exposureClassName"))...)
	errs = append(errs, networkingUpdate(&s.Spec, &old.Spec, path.Child("networking"))...)
	errs = append(errs, shootDNSUpdate(&s.Spec, &old.Spec, path.Child("dns"))...)
	errs = append(errs, controlPlaneUpdate(s, old)...)
	errs = append(errs, encryptionUpdate(s, old)...)
	errs = append(errs, hibernationUpdate(s, old)...)
	if query.Workerless(&s.Spec) != query.Workerless(&old.Spec) {
		errs = append(errs, field.Forbidden(path.Child("provider", "workers"), "a shoot can not gain or lose its nature of having workers"))
	}
	errs = append(errs, versionUpdate(s.Spec.Kubernetes.Version, old.Spec.Kubernetes.Version, path.Child("kubernetes", "version"))...)
	errs = append(errs, poolsUpdate(&s.Spec, &old.Spec, path.Child("provider", "workers"))...)
	return append(errs, shootObject(s)...)
}

// cloudProfileUpdate keeps a shoot with its profile. A profile of a project may be exchanged for one of the same family,
// which is judged where the profiles are known (API-SHOOTSTRAT-9).
func cloudProfileUpdate(s, old *gardencorev1beta1.ShootSpec, path *field.Path) field.ErrorList {
	if ofProject(s) || ofProject(old) {
		return nil
	}
	return immutable(query.ProfileName(s), query.ProfileName(old), path)
}

func ofProject(s *gardencorev1beta1.ShootSpec) bool {
	return s.CloudProfile != nil && s.CloudProfile.Kind == gardencorev1beta1.CloudProfileReferenceKindNamespacedCloudProfile
}

// credentialsUpdate keeps the binding, but for the step from a SecretBinding to a CredentialsBinding (API-VALSHOOT-2).
// Whether both lead to the same credentials is judged where the bindings are known.
func credentialsUpdate(s, old *gardencorev1beta1.ShootSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	moved := s.SecretBindingName == nil && s.CredentialsBindingName != nil
	if !moved {
		errs = append(errs, immutableOnceSet(s.SecretBindingName, old.SecretBindingName, path.Child("secretBindingName"))...)
	}
	if old.CredentialsBindingName != nil && s.CredentialsBindingName == nil {
		errs = append(errs, field.Forbidden(path.Child("credentialsBindingName"), "can not be taken away"))
	}
	return errs
}

// versionUpdate forbids downgrades and skipping minor versions (API-VALSHOOT-6).
func versionUpdate(value, old string, path *field.Path) field.ErrorList {
	to, ok := parsed(value)
	from, isVersion := parsed(old)
	switch {
	case !ok || !isVersion:
		return nil // The value itself is judged elsewhere.
	case to.LessThan(from):
		return field.ErrorList{field.Forbidden(path, "a downgrade from "+old+" is not possible")}
	case to.Major() != from.Major() || to.Minor() > from.Minor()+1:
		return field.ErrorList{field.Forbidden(path, "only one minor version can be taken at a time, coming from "+old)}
	default:
		return nil
	}
}

func parsed(value string) (*version.Version, bool) {
	v, err := version.ParseSemantic(value)
	return v, err == nil
}

// shootObject checks what must hold of every shoot.
func shootObject(s *gardencorev1beta1.Shoot) field.ErrorList {
	path := field.NewPath("spec")
	spec := &s.Spec
	errs := required(query.ProfileName(spec), path.Child("cloudProfile", "name"), "a CloudProfile")
	errs = append(errs, cloudProfileReference(spec, path)...)
	errs = append(errs, required(spec.Region, path.Child("region"), "a region of the CloudProfile")...)
	errs = append(errs, required(spec.Provider.Type, path.Child("provider", "type"), "the provider of the CloudProfile")...)
	errs = append(errs, kubernetesVersion(spec.Kubernetes.Version, path.Child("kubernetes", "version"))...)
	errs = append(errs, kubernetes(&spec.Kubernetes, path.Child("kubernetes"))...)
	errs = append(errs, purpose(s, path.Child("purpose"))...)
	errs = append(errs, tolerations(spec.Tolerations, path.Child("tolerations"))...)
	errs = append(errs, shootNetworking(spec, path.Child("networking"))...)
	errs = append(errs, shootDNS(spec.DNS, path.Child("dns"))...)
	errs = append(errs, controlPlane(spec.ControlPlane, path.Child("controlPlane"))...)
	errs = append(errs, addons(spec, path.Child("addons"))...)
	errs = append(errs, maintenance(spec.Maintenance, path.Child("maintenance"))...)
	errs = append(errs, hibernationSchedules(spec.Hibernation, path.Child("hibernation", "schedules"))...)
	errs = append(errs, monitoring(spec.Monitoring, path.Child("monitoring"))...)
	errs = append(errs, references(spec, path)...)
	errs = append(errs, systemComponents(spec.SystemComponents, path.Child("systemComponents"))...)
	if query.Workerless(spec) {
		return append(errs, workerless(spec, path)...)
	}
	return append(append(errs, credentials(spec, path)...), workers(spec, path.Child("provider", "workers"))...)
}

// cloudProfileReference checks the reference, and that the former field says the same (API-SHOOTSTRAT-9).
func cloudProfileReference(s *gardencorev1beta1.ShootSpec, path *field.Path) field.ErrorList {
	ref := s.CloudProfile
	if ref == nil {
		return nil
	}
	var errs field.ErrorList
	if ref.Kind != "" {
		errs = append(errs, oneOf(ref.Kind, path.Child("cloudProfile", "kind"),
			gardencorev1beta1.CloudProfileReferenceKindCloudProfile, gardencorev1beta1.CloudProfileReferenceKindNamespacedCloudProfile)...)
	}
	if s.CloudProfileName != nil && *s.CloudProfileName != ref.Name {
		errs = append(errs, field.Invalid(path.Child("cloudProfileName"), *s.CloudProfileName, "must be what cloudProfile names"))
	}
	return errs
}

// credentials wants one binding, of either sort.
func credentials(s *gardencorev1beta1.ShootSpec, path *field.Path) field.ErrorList {
	switch secret, general := deref(s.SecretBindingName), deref(s.CredentialsBindingName); {
	case secret == "" && general == "":
		return field.ErrorList{field.Required(path.Child("secretBindingName"), "a shoot with workers needs credentials")}
	case secret != "" && general != "":
		return field.ErrorList{field.Forbidden(path.Child("secretBindingName"), "has no place beside credentialsBindingName")}
	default:
		return nil
	}
}

func kubernetesVersion(value string, path *field.Path) field.ErrorList {
	if value == "" {
		return field.ErrorList{field.Required(path, "must be a version that the CloudProfile offers")}
	}
	if _, ok := parsed(value); !ok {
		return field.ErrorList{field.Invalid(path, value, "must be a version of three parts, such as 1.36.3")}
	}
	return nil
}

// purpose holds API-VALSHOOT-12.
func purpose(s *gardencorev1beta1.Shoot, path *field.Path) field.ErrorList {
	if s.Spec.Purpose == nil {
		return nil
	}
	allowed := []gardencorev1beta1.ShootPurpose{
		gardencorev1beta1.ShootPurposeEvaluation, gardencorev1beta1.ShootPurposeTesting,
		gardencorev1beta1.ShootPurposeDevelopment, gardencorev1beta1.ShootPurposeProduction,
	}
	if s.Namespace == gardencorev1beta1.NamespaceGarden {
		allowed = append(allowed, gardencorev1beta1.ShootPurposeInfrastructure)
	}
	return oneOf(*s.Spec.Purpose, path, allowed...)
}
