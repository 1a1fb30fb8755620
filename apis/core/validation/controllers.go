// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/extensions"
	"github.com/terrarium-garden/terrarium/apis/extensions/kind"
)

// ValidateControllerRegistration checks a new ControllerRegistration (API-VALCR-1).
func ValidateControllerRegistration(r *gardencorev1beta1.ControllerRegistration) field.ErrorList {
	errs := metadata(r, false, apivalidation.NameIsDNSLabel)
	return append(errs, registrationSpec(&r.Spec, field.NewPath("spec"))...)
}

// ValidateControllerRegistrationUpdate checks an updated ControllerRegistration (API-VALCR-1).
func ValidateControllerRegistrationUpdate(r, old *gardencorev1beta1.ControllerRegistration) field.ErrorList {
	path := field.NewPath("spec")
	errs := metadataUpdate(r, old)
	errs = append(errs, frozen(r, r.Spec, old.Spec)...)
	if r.DeletionTimestamp != nil {
		return errs
	}
	for i, res := range r.Spec.Resources {
		for _, was := range old.Spec.Resources {
			if was.Kind == res.Kind && was.Type == res.Type {
				errs = append(errs, immutable(query.PrimaryResource(res), query.PrimaryResource(was), path.Child("resources").Index(i).Child("primary"))...)
			}
		}
	}
	return append(errs, registrationSpec(&r.Spec, path)...)
}

func registrationSpec(s *gardencorev1beta1.ControllerRegistrationSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	pairs := make([]string, 0, len(s.Resources))
	for i, r := range s.Resources {
		errs = append(errs, controllerResource(r, path.Child("resources").Index(i))...)
		pairs = append(pairs, r.Kind+"/"+r.Type)
	}
	errs = append(errs, duplicates(pairs, path.Child("resources").Index)...)
	if s.Deployment != nil {
		controlsPrimarily := slices.ContainsFunc(s.Resources, query.PrimaryResource)
		errs = append(errs, registrationDeployment(s.Deployment, controlsPrimarily, path.Child("deployment"))...)
	}
	return errs
}

func controllerResource(r gardencorev1beta1.ControllerResource, path *field.Path) field.ErrorList {
	errs := required(r.Type, path.Child("type"), "the type that is taken care of")
	errs = append(errs, required(r.Kind, path.Child("kind"), "the kind that is taken care of")...)
	errs = append(errs, oneOf(r.Kind, path.Child("kind"), extensions.Names()...)...)
	if r.Kind == kind.Extension {
		return append(errs, extensionResource(r, path)...)
	}
	for _, one := range []setting{
		{"reconcileTimeout", r.ReconcileTimeout != nil},
		{"lifecycle", r.Lifecycle != nil},
		{"globallyEnabled", r.GloballyEnabled != nil},
		{"autoEnable", len(r.AutoEnable) > 0},
	} {
		if one.given {
			errs = append(errs, field.Forbidden(path.Child(one.name), "is for the kind Extension only"))
		}
	}
	return errs
}

// extensionResource checks the fields that only the kind Extension has.
func extensionResource(r gardencorev1beta1.ControllerResource, path *field.Path) field.ErrorList {
	errs := lasting([]span{{"reconcileTimeout", r.ReconcileTimeout}}, path)
	known := []gardencorev1beta1.ClusterType{gardencorev1beta1.ClusterTypeShoot, gardencorev1beta1.ClusterTypeSeed}
	for i, t := range r.ClusterCompatibility {
		errs = append(errs, oneOf(t, path.Child("clusterCompatibility").Index(i), known...)...)
	}
	for i, t := range r.AutoEnable {
		here := path.Child("autoEnable").Index(i)
		errs = append(errs, oneOf(t, here, known...)...)
		if len(r.ClusterCompatibility) > 0 && !slices.Contains(r.ClusterCompatibility, t) {
			errs = append(errs, field.Forbidden(here, "is not a cluster type that the extension supports"))
		}
	}
	if l := r.Lifecycle; l != nil {
		before, after := gardencorev1beta1.ControllerResourceLifecycleStrategyBeforeKubeAPIServer, gardencorev1beta1.ControllerResourceLifecycleStrategyAfterKubeAPIServer
		here := path.Child("lifecycle")
		errs = append(errs, optional(l.Reconcile, here.Child("reconcile"), before, after, gardencorev1beta1.ControllerResourceLifecycleStrategyAfterWorker)...)
		errs = append(errs, optional(l.Delete, here.Child("delete"), before, after)...)
		errs = append(errs, optional(l.Migrate, here.Child("migrate"), before, after)...)
	}
	return errs
}

// optional rejects a value that is given and not allowed.
func optional[S ~string](value *S, path *field.Path, allowed ...S) field.ErrorList {
	if value == nil {
		return nil
	}
	return oneOf(*value, path, allowed...)
}

func registrationDeployment(
	d *gardencorev1beta1.ControllerRegistrationDeployment, controlsPrimarily bool, path *field.Path,
) field.ErrorList {
	var errs field.ErrorList
	if d.Policy != nil {
		errs = append(errs, oneOf(*d.Policy, path.Child("policy"), gardencorev1beta1.ControllerDeploymentPolicyOnDemand,
			gardencorev1beta1.ControllerDeploymentPolicyAlways, gardencorev1beta1.ControllerDeploymentPolicyAlwaysExceptNoShoots)...)
	}
	if d.SeedSelector != nil {
		selector := path.Child("seedSelector")
		if controlsPrimarily {
			errs = append(errs, field.Forbidden(selector, "must not be set when a resource is controlled primarily"))
		}
		errs = append(errs, selectorOfSeeds(d.SeedSelector, selector)...)
	}
	if len(d.DeploymentRefs) > 1 {
		errs = append(errs, field.Forbidden(path.Child("deploymentRefs"), "only one deployment can be named"))
	}
	for i, ref := range d.DeploymentRefs {
		errs = append(errs, required(ref.Name, path.Child("deploymentRefs").Index(i).Child("name"), "a ControllerDeployment")...)
	}
	return errs
}

// ValidateControllerInstallation checks a new ControllerInstallation (API-VALCI-1).
func ValidateControllerInstallation(i *gardencorev1beta1.ControllerInstallation) field.ErrorList {
	errs := metadata(i, false, apivalidation.NameIsDNSLabel)
	return append(errs, installationSpec(&i.Spec, field.NewPath("spec"))...)
}

// ValidateControllerInstallationUpdate checks an updated ControllerInstallation (API-VALCI-1).
func ValidateControllerInstallationUpdate(i, old *gardencorev1beta1.ControllerInstallation) field.ErrorList {
	path := field.NewPath("spec")
	errs := metadataUpdate(i, old)
	errs = append(errs, frozen(i, i.Spec, old.Spec)...)
	errs = append(errs, immutable(i.Spec.RegistrationRef.Name, old.Spec.RegistrationRef.Name, path.Child("registrationRef", "name"))...)
	errs = append(errs, stays(i.Spec.SeedRef, old.Spec.SeedRef, path.Child("seedRef"))...)
	errs = append(errs, stays(i.Spec.ShootRef, old.Spec.ShootRef, path.Child("shootRef"))...)
	return append(errs, installationSpec(&i.Spec, path)...)
}

// stays checks that an installation stays where it is: the name of a seed or a shoot cannot be changed or removed, and another place
// cannot be added. Other fields of a reference may change.
func stays(ref, old *corev1.ObjectReference, path *field.Path) field.ErrorList {
	if ref == nil || old == nil {
		return immutable(ref, old, path)
	}
	errs := immutable(ref.Name, old.Name, path.Child("name"))
	return append(errs, immutable(ref.Namespace, old.Namespace, path.Child("namespace"))...)
}

func installationSpec(s *gardencorev1beta1.ControllerInstallationSpec, path *field.Path) field.ErrorList {
	errs := reference(&s.RegistrationRef, path.Child("registrationRef"), "a ControllerRegistration")
	switch {
	case s.SeedRef != nil && s.ShootRef != nil:
		errs = append(errs, field.Forbidden(path.Child("shootRef"), "cannot be set together with seedRef: an installation is either on a seed or on a shoot"))
	case s.ShootRef != nil:
		errs = append(errs, reference(s.ShootRef, path.Child("shootRef"), "a Shoot")...)
	default:
		errs = append(errs, reference(s.SeedRef, path.Child("seedRef"), "a Seed")...)
	}
	return errs
}
