// SPDX-License-Identifier: Apache-2.0

package validation

import (
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/util/version"

	"github.com/terrarium-garden/terrarium/apis/check"
	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// ValidateShoot checks a new Shoot (API-VALSHOOT-1, 24).
func ValidateShoot(s *gardencorev1beta1.Shoot) field.ErrorList {
	errs := metadata(s, true, apivalidation.NameIsDNSLabel)
	errs = append(errs, noDoubleHyphen(s.Name, field.NewPath("metadata", "name"))...)
	// A user who could set these could keep others from deleting the shoot.
	for i, f := range s.Finalizers {
		if f == gardencorev1beta1.FinalizerGardener || f == gardencorev1beta1.FinalizerReferenceProtection {
			path := field.NewPath("metadata", "finalizers").Index(i)
			errs = append(errs, field.Forbidden(path, "cannot be set on a new shoot: the garden sets it"))
		}
	}
	errs = append(errs, shootOperation(s, nil)...)
	errs = append(errs, forceDeletion(s, nil)...)
	return append(errs, shootObject(s, nil)...)
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

// ValidateShootBindingUpdate checks a write to shoots/binding, which changes only the seed (API-BIND-1, 2).
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
		if !check.Same(same, &old.Spec) {
			errs = append(errs, field.Forbidden(field.NewPath("spec"), "only the seed can change together with the seed"))
		}
	case !check.Same(withoutSeed(&s.Spec, &old.Spec), &old.Spec):
		errs = append(errs, field.Forbidden(field.NewPath("spec"), "only the seed can be chosen here; change the rest in the shoot itself"))
	}
	return append(errs, shootUpdate(s, old)...)
}

// withoutSeed returns the spec of a shoot without its first seed and what the server fills in with that: the domain, the primary
// DNS provider and the networks. Everything else is changed in the shoot itself, where the quotas and references of the shoot are
// checked.
func withoutSeed(s, old *gardencorev1beta1.ShootSpec) *gardencorev1beta1.ShootSpec {
	same := s.DeepCopy()
	same.SeedName = nil
	if n, was := same.Networking, old.Networking; n != nil && was != nil {
		n.Pods, n.Services = was.Pods, was.Services
	}
	switch d, was := same.DNS, old.DNS; {
	case d == nil:
	case was == nil && len(d.Providers) == 0:
		same.DNS = nil
	case was != nil:
		d.Domain = was.Domain
		for i := range min(len(d.Providers), len(was.Providers)) {
			d.Providers[i].Primary = was.Providers[i].Primary
		}
	}
	return same
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
	errs := shootOperation(s, old)
	errs = append(errs, forceDeletion(s, old)...)
	if s.DeletionTimestamp != nil {
		return append(errs, frozen(s, s.Spec, old.Spec)...)
	}
	path := field.NewPath("spec")
	errs = append(errs, shootSpecUpdate(&s.Spec, &old.Spec, path)...)
	errs = append(errs, controlPlaneUpdate(s, old)...)
	errs = append(errs, encryptionUpdate(s, old)...)
	errs = append(errs, hibernationUpdate(s, old)...)
	errs = append(errs, inPlacePending(s, old, path.Child("provider", "workers"))...)
	return append(errs, shootObject(s, &old.Spec)...)
}

// shootSpecUpdate checks the immutable fields of a spec (API-VALSHOOT-2, 3, 6).
func shootSpecUpdate(s, old *gardencorev1beta1.ShootSpec, path *field.Path) field.ErrorList {
	errs := immutable(s.Region, old.Region, path.Child("region"))
	errs = append(errs, immutable(s.Provider.Type, old.Provider.Type, path.Child("provider", "type"))...)
	errs = append(errs, cloudProfileUpdate(s, old, path.Child("cloudProfile"))...)
	errs = append(errs, credentialsUpdate(s, old, path)...)
	errs = append(errs, immutableOnceSet(s.SchedulerName, old.SchedulerName, path.Child("schedulerName"))...)
	errs = append(errs, immutable(s.ExposureClassName, old.ExposureClassName, path.Child("exposureClassName"))...)
	errs = append(errs, networkingUpdate(s, old, path)...)
	errs = append(errs, shootDNSUpdate(s, old, path.Child("dns"))...)
	errs = append(errs, versionUpdate(s.Kubernetes.Version, old.Kubernetes.Version, path.Child("kubernetes", "version"))...)
	workers := path.Child("provider", "workers")
	if query.Workerless(s) != query.Workerless(old) {
		return append(errs, field.Forbidden(workers, "the first worker pool of a shoot cannot be added and the last one cannot be removed"))
	}
	errs = append(errs, nodeLocalDNSUpdate(s, old, path.Child("systemComponents", "nodeLocalDNS"))...)
	return append(errs, poolsUpdate(s, old, workers)...)
}

// cloudProfileUpdate checks that a shoot keeps its profile. It can change between profiles of the same family; an admission
// plugin, which can read the profiles, checks that (API-SHOOTSTRAT-9).
func cloudProfileUpdate(s, old *gardencorev1beta1.ShootSpec, path *field.Path) field.ErrorList {
	if ofProject(s) || ofProject(old) {
		return nil
	}
	return immutable(query.ProfileName(s), query.ProfileName(old), path)
}

func ofProject(s *gardencorev1beta1.ShootSpec) bool {
	return s.CloudProfile != nil && s.CloudProfile.Kind == gardencorev1beta1.CloudProfileReferenceKindNamespacedCloudProfile
}

// credentialsUpdate checks that a shoot keeps its binding, except that a SecretBinding can be replaced by a
// CredentialsBinding. An admission plugin, which can read the bindings, checks that both refer to the same credentials
// (API-VALSHOOT-2).
func credentialsUpdate(s, old *gardencorev1beta1.ShootSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	moved := s.SecretBindingName == nil && s.CredentialsBindingName != nil
	if !moved {
		errs = append(errs, immutableOnceSet(s.SecretBindingName, old.SecretBindingName, path.Child("secretBindingName"))...)
	}
	if old.CredentialsBindingName != nil && s.CredentialsBindingName == nil {
		errs = append(errs, field.Forbidden(path.Child("credentialsBindingName"), "cannot be removed"))
	}
	return errs
}

// versionUpdate forbids downgrades and skipping minor versions (API-VALSHOOT-6).
func versionUpdate(value, old string, path *field.Path) field.ErrorList {
	to, ok := parsed(value)
	from, isVersion := parsed(old)
	switch {
	case !ok || !isVersion:
		return nil // The value itself is checked elsewhere.
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

// shootObject checks the spec of a new or updated shoot; stored is the old spec, nil for a new shoot.
func shootObject(s *gardencorev1beta1.Shoot, stored *gardencorev1beta1.ShootSpec) field.ErrorList {
	errs := shootSpec(&s.Spec, place{namespace: s.Namespace, stored: stored}, field.NewPath("spec"))
	return append(errs, restless(s)...)
}

// place is the path of the spec of a shoot, with its old value.
type place struct {
	namespace string
	template  bool
	stored    *gardencorev1beta1.ShootSpec
}

func shootSpec(spec *gardencorev1beta1.ShootSpec, where place, path *field.Path) field.ErrorList {
	if errs := bounds(spec, path); len(errs) > 0 {
		return errs
	}
	errs := cloudProfileReference(spec, path)
	errs = append(errs, required(spec.Region, path.Child("region"), "a region of the CloudProfile")...)
	errs = append(errs, required(spec.Provider.Type, path.Child("provider", "type"), "the provider of the CloudProfile")...)
	if spec.Provider.Type != "" {
		errs = append(errs, label(spec.Provider.Type, path.Child("provider", "type"))...)
	}
	errs = append(errs, kubernetesVersion(spec.Kubernetes.Version, path.Child("kubernetes", "version"))...)
	errs = append(errs, kubernetes(spec, path.Child("kubernetes"))...)
	errs = append(errs, purpose(spec, where.namespace, path.Child("purpose"))...)
	errs = append(errs, placement(spec, path)...)
	errs = append(errs, tolerations(spec.Tolerations, path.Child("tolerations"))...)
	errs = append(errs, shootNetworking(spec, path)...)
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
	errs = append(errs, credentials(spec, where.stored, path)...)
	return append(errs, workers(spec, where, path.Child("provider", "workers"))...)
}

// placement checks the scheduler, the seed and the other names that decide where a shoot runs.
func placement(s *gardencorev1beta1.ShootSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if s.SeedName != nil && *s.SeedName == "" {
		errs = append(errs, field.Invalid(path.Child("seedName"), "", "must not be empty if it is given"))
	}
	if s.SeedName != nil && query.SelfHosted(s) {
		errs = append(errs, field.Invalid(path.Child("seedName"), *s.SeedName, "a shoot that runs its own control plane has no seed"))
	}
	if s.SchedulerName != nil {
		errs = append(errs, label(*s.SchedulerName, path.Child("schedulerName"))...)
	}
	if s.ExposureClassName != nil {
		for _, message := range apivalidation.NameIsDNSSubdomain(*s.ExposureClassName, false) {
			errs = append(errs, field.Invalid(path.Child("exposureClassName"), *s.ExposureClassName, message))
		}
	}
	return errs
}

// cloudProfileReference checks the reference and its older field: both name the same profile, and the version of Kubernetes
// still supports the older field (API-SHOOTSTRAT-9).
func cloudProfileReference(s *gardencorev1beta1.ShootSpec, path *field.Path) field.ErrorList {
	here, former := path.Child("cloudProfile"), path.Child("cloudProfileName")
	errs := required(query.ProfileName(s), here.Child("name"), "a CloudProfile")
	if deref(s.CloudProfileName) != "" && beyond(s.Kubernetes.Version, lastWithNamesOfFormerFields) {
		errs = append(errs, gone(lastWithNamesOfFormerFields, former))
	}
	ref := s.CloudProfile
	if ref == nil {
		return errs
	}
	if ref.Kind != "" {
		errs = append(errs, oneOf(ref.Kind, here.Child("kind"),
			gardencorev1beta1.CloudProfileReferenceKindCloudProfile, gardencorev1beta1.CloudProfileReferenceKindNamespacedCloudProfile)...)
	}
	if s.CloudProfileName != nil && *s.CloudProfileName != ref.Name {
		errs = append(errs, field.Invalid(former, *s.CloudProfileName, "must be the same as cloudProfile.name"))
	}
	return errs
}

// credentials checks that a shoot with workers has one binding, of a kind that its version of Kubernetes supports. A
// self-hosted shoot needs none.
func credentials(s, stored *gardencorev1beta1.ShootSpec, path *field.Path) field.ErrorList {
	if query.SelfHosted(s) {
		return nil
	}
	former, here := path.Child("secretBindingName"), path.Child("credentialsBindingName")
	switch secret, general := deref(s.SecretBindingName), deref(s.CredentialsBindingName); {
	case secret == "" && general == "":
		return field.ErrorList{field.Required(here, "a shoot with workers needs credentials")}
	case secret != "" && general != "":
		return field.ErrorList{field.Forbidden(former, "cannot be set together with credentialsBindingName")}
	case withFormerBinding(s) && (stored == nil || !withFormerBinding(stored)):
		return field.ErrorList{field.Forbidden(former, "is not supported from Kubernetes 1.34 on: use credentialsBindingName")}
	default:
		return nil
	}
}

// withFormerBinding reports whether a shoot names a SecretBinding although its version of Kubernetes does not support it.
// Shoots that were stored before this was rejected remain valid, because controllers must be able to update them.
func withFormerBinding(s *gardencorev1beta1.ShootSpec) bool {
	return deref(s.SecretBindingName) != "" && beyond(s.Kubernetes.Version, lastWithNamesOfFormerFields)
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

// purpose checks the purpose of a shoot; infrastructure is for shoots in the namespace garden only (API-VALSHOOT-12).
func purpose(s *gardencorev1beta1.ShootSpec, namespace string, path *field.Path) field.ErrorList {
	if s.Purpose == nil {
		return nil
	}
	allowed := []gardencorev1beta1.ShootPurpose{
		gardencorev1beta1.ShootPurposeEvaluation, gardencorev1beta1.ShootPurposeTesting,
		gardencorev1beta1.ShootPurposeDevelopment, gardencorev1beta1.ShootPurposeProduction,
	}
	if namespace == gardencorev1beta1.NamespaceGarden {
		allowed = append(allowed, gardencorev1beta1.ShootPurposeInfrastructure)
	}
	return oneOf(*s.Purpose, path, allowed...)
}
