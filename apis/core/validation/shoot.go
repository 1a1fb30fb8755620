// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/util/version"

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
	return append(errs, shootObject(s)...)
}

// ValidateShootUpdate checks an updated Shoot (API-VALSHOOT-2, 5, 6, API-BIND-1).
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

// ValidateShootStatusUpdate checks a new status of a Shoot (API-VALSHOOT-2).
func ValidateShootStatusUpdate(s, old *gardencorev1beta1.Shoot) field.ErrorList {
	path := field.NewPath("status")
	errs := immutableOnceSet(s.Status.ClusterIdentity, old.Status.ClusterIdentity, path.Child("clusterIdentity"))
	if old.Status.UID != "" {
		errs = append(errs, immutable(s.Status.UID, old.Status.UID, path.Child("uid"))...)
	}
	if old.Status.TechnicalID != "" {
		errs = append(errs, immutable(s.Status.TechnicalID, old.Status.TechnicalID, path.Child("technicalID"))...)
	}
	return errs
}

func shootUpdate(s, old *gardencorev1beta1.Shoot) field.ErrorList {
	path := field.NewPath("spec")
	if s.DeletionTimestamp != nil {
		return frozen(s, s.Spec, old.Spec)
	}
	errs := immutable(s.Spec.Region, old.Spec.Region, path.Child("region"))
	errs = append(errs, immutable(s.Spec.Provider.Type, old.Spec.Provider.Type, path.Child("provider", "type"))...)
	errs = append(errs, immutable(profileName(&s.Spec), profileName(&old.Spec), path.Child("cloudProfile"))...)
	errs = append(errs, immutableOnceSet(s.Spec.SecretBindingName, old.Spec.SecretBindingName, path.Child("secretBindingName"))...)
	errs = append(errs, immutableOnceSet(s.Spec.SchedulerName, old.Spec.SchedulerName, path.Child("schedulerName"))...)
	errs = append(errs, immutable(s.Spec.ExposureClassName, old.Spec.ExposureClassName, path.Child("exposureClassName"))...)
	if s.Spec.Networking != nil && old.Spec.Networking != nil {
		here, n, was := path.Child("networking"), s.Spec.Networking, old.Spec.Networking
		errs = append(errs, immutableOnceSet(n.Type, was.Type, here.Child("type"))...)
		errs = append(errs, immutableOnceSet(n.Pods, was.Pods, here.Child("pods"))...)
		errs = append(errs, immutableOnceSet(n.Services, was.Services, here.Child("services"))...)
	}
	if (len(s.Spec.Provider.Workers) == 0) != (len(old.Spec.Provider.Workers) == 0) {
		errs = append(errs, field.Forbidden(path.Child("provider", "workers"), "a shoot can not gain or lose its nature of having workers"))
	}
	errs = append(errs, versionUpdate(s.Spec.Kubernetes.Version, old.Spec.Kubernetes.Version, path.Child("kubernetes", "version"))...)
	return append(errs, shootObject(s)...)
}

// profileName is the name of the cloud profile, whichever of the two fields carries it.
func profileName(s *gardencorev1beta1.ShootSpec) string {
	if s.CloudProfile != nil {
		return s.CloudProfile.Name
	}
	return deref(s.CloudProfileName)
}

// versionUpdate forbids downgrades and skipping minor versions (API-VALSHOOT-6).
func versionUpdate(value, old string, path *field.Path) field.ErrorList {
	to, err := version.ParseSemantic(value)
	if err != nil {
		return nil // The value itself is judged elsewhere.
	}
	from, err := version.ParseSemantic(old)
	switch {
	case err != nil:
		return nil
	case to.LessThan(from):
		return field.ErrorList{field.Forbidden(path, "a downgrade from "+old+" is not possible")}
	case to.Major() != from.Major() || to.Minor() > from.Minor()+1:
		return field.ErrorList{field.Forbidden(path, "only one minor version can be taken at a time, coming from "+old)}
	default:
		return nil
	}
}

// shootObject checks what must hold of every shoot.
func shootObject(s *gardencorev1beta1.Shoot) field.ErrorList {
	path := field.NewPath("spec")
	spec := &s.Spec
	errs := required(profileName(spec), path.Child("cloudProfile", "name"), "a CloudProfile")
	errs = append(errs, required(spec.Region, path.Child("region"), "a region of the CloudProfile")...)
	errs = append(errs, required(spec.Provider.Type, path.Child("provider", "type"), "the provider of the CloudProfile")...)
	errs = append(errs, kubernetesVersion(spec.Kubernetes.Version, path.Child("kubernetes", "version"))...)
	errs = append(errs, purpose(s, path.Child("purpose"))...)
	errs = append(errs, tolerations(spec.Tolerations, path.Child("tolerations"))...)
	errs = append(errs, shootOperation(s)...)
	errs = append(errs, shootNetworking(spec, path.Child("networking"))...)
	errs = append(errs, maintenance(spec.Maintenance, path.Child("maintenance"))...)
	errs = append(errs, hibernationSchedules(spec.Hibernation, path.Child("hibernation", "schedules"))...)
	if len(spec.Provider.Workers) == 0 {
		return append(errs, workerless(spec, path)...)
	}
	if deref(spec.SecretBindingName) == "" && deref(spec.CredentialsBindingName) == "" {
		errs = append(errs, field.Required(path.Child("secretBindingName"), "a shoot with workers needs credentials"))
	}
	return append(errs, workers(spec, path.Child("provider", "workers"))...)
}

func kubernetesVersion(value string, path *field.Path) field.ErrorList {
	if value == "" {
		return field.ErrorList{field.Required(path, "must be a version that the CloudProfile offers")}
	}
	if _, err := version.ParseSemantic(value); err != nil {
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

// workerless forbids what makes no sense without machines (API-VALSHOOT-7).
func workerless(s *gardencorev1beta1.ShootSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	given := map[string]bool{
		"secretBindingName":             s.SecretBindingName != nil,
		"credentialsBindingName":        s.CredentialsBindingName != nil,
		"provider.infrastructureConfig": s.Provider.InfrastructureConfig != nil,
		"provider.controlPlaneConfig":   s.Provider.ControlPlaneConfig != nil,
		"provider.workersSettings":      s.Provider.WorkersSettings != nil,
		"kubernetes.clusterAutoscaler":  s.Kubernetes.ClusterAutoscaler != nil,
		"addons":                        s.Addons != nil,
		"systemComponents":              s.SystemComponents != nil,
	}
	if n := s.Networking; n != nil {
		given["networking.type"] = n.Type != nil
		given["networking.pods"] = n.Pods != nil
		given["networking.nodes"] = n.Nodes != nil
	}
	names := make([]string, 0, len(given))
	for name := range given {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if given[name] {
			errs = append(errs, field.Forbidden(path.Child(name), "has no meaning for a shoot without workers"))
		}
	}
	return errs
}
