// SPDX-License-Identifier: Apache-2.0

package validation

import (
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/terrarium-garden/terrarium/apis/check"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	corevalidation "github.com/terrarium-garden/terrarium/apis/core/validation"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
)

// ValidateManagedSeed checks a new ManagedSeed (API-VALMS-1, API-NAME-4).
func ValidateManagedSeed(m *gardenseedmanagementv1alpha1.ManagedSeed) field.ErrorList {
	errs := check.Metadata(m, true, apivalidation.NameIsDNSLabel)
	errs = append(errs, managedSeedOperation(m, "")...)
	return append(errs, managedSeedSpec(&m.Spec, field.NewPath("spec"), false)...)
}

// ValidateManagedSeedUpdate checks an updated ManagedSeed (API-VALMS-1).
func ValidateManagedSeedUpdate(m, old *gardenseedmanagementv1alpha1.ManagedSeed) field.ErrorList {
	path := field.NewPath("spec")
	errs := check.MetadataUpdate(m, old)
	errs = append(errs, managedSeedOperation(m, old.Annotations[gardencorev1beta1.AnnotationOperation])...)
	errs = append(errs, managedSeedUpdate(&m.Spec, &old.Spec, path)...)
	return append(errs, managedSeedSpec(&m.Spec, path, false)...)
}

func managedSeedOperation(m *gardenseedmanagementv1alpha1.ManagedSeed, pending string) field.ErrorList {
	const annotation = gardencorev1beta1.AnnotationOperation
	return operation(m.Annotations[annotation], pending, field.NewPath("metadata", "annotations").Key(annotation),
		gardencorev1beta1.OperationReconcile, gardencorev1beta1.OperationRenewKubeconfig)
}

// managedSeedUpdate checks the immutable fields of a managed seed or of a template. Its seed may get a gardenlet, but does not lose it:
// what never changes in the one form could otherwise change by way of the other.
func managedSeedUpdate(s, old *gardenseedmanagementv1alpha1.ManagedSeedSpec, path *field.Path) field.ErrorList {
	errs := check.Immutable(s.Shoot, old.Shoot, path.Child("shoot"))
	if now, before := s.Gardenlet, old.Gardenlet; before != nil {
		if now == nil && s.SeedTemplate != nil {
			errs = append(errs, field.Forbidden(path.Child("seedTemplate"), "cannot take the place of gardenlet: the seed has its gardenlet already"))
		}
		if now == nil {
			return errs // Without both, it is rejected like a new one.
		}
		errs = append(errs, check.Immutable(now.Bootstrap, before.Bootstrap, path.Child("gardenlet", "bootstrap"))...)
		errs = append(errs, check.Immutable(now.MergeWithParent, before.MergeWithParent, path.Child("gardenlet", "mergeWithParent"))...)
	}
	seed, at := seedTemplate(s, path)
	was, _ := seedTemplate(old, path)
	if seed == nil || was == nil {
		return errs
	}
	return append(errs, corevalidation.ValidateSeedTemplateUpdate(seed, was, at)...)
}

// seedTemplate returns the seed that is described in either of the two forms, and where. It is nil if there is none, or one that cannot
// be read, which is an error of the object itself.
func seedTemplate(s *gardenseedmanagementv1alpha1.ManagedSeedSpec, path *field.Path) (*gardencorev1beta1.SeedTemplate, *field.Path) {
	if s.Gardenlet == nil {
		return s.SeedTemplate, path.Child("seedTemplate")
	}
	at := path.Child("gardenlet", "config", "seedConfig")
	config, wrong := configuration(s.Gardenlet.Config, at)
	if len(wrong) > 0 || config.SeedConfig == nil {
		return nil, at
	}
	return &config.SeedConfig.SeedTemplate, at
}

// managedSeedSpec checks a managed seed or a template, which must not name a shoot.
func managedSeedSpec(s *gardenseedmanagementv1alpha1.ManagedSeedSpec, path *field.Path, template bool) field.ErrorList {
	errs := managedSeedShoot(s.Shoot, path.Child("shoot"), template)
	switch {
	case s.Gardenlet == nil && s.SeedTemplate == nil:
		errs = append(errs, field.Required(path.Child("gardenlet"), "must describe the gardenlet of the seed"))
	case s.Gardenlet != nil && s.SeedTemplate != nil:
		errs = append(errs, field.Forbidden(path.Child("seedTemplate"), "cannot be set together with gardenlet: it is for seeds whose gardenlet is deployed otherwise"))
	case s.Gardenlet != nil:
		errs = append(errs, managedSeedGardenlet(s.Gardenlet, path.Child("gardenlet"), template)...)
	case s.SeedTemplate.Name != "":
		errs = append(errs, field.Forbidden(path.Child("seedTemplate", "metadata", "name"), "must be empty: the seed has the name of this object"))
	}
	return errs
}

func managedSeedShoot(s *gardenseedmanagementv1alpha1.Shoot, path *field.Path, template bool) field.ErrorList {
	switch {
	case template && s != nil:
		return field.ErrorList{field.Forbidden(path, "must be empty: a set creates a shoot for each of its managed seeds")}
	case template:
		return nil
	case s == nil:
		return field.ErrorList{field.Required(path, "must name the shoot that becomes a seed")}
	default:
		return check.Required(s.Name, path.Child("name"), "the shoot that becomes a seed")
	}
}

func managedSeedGardenlet(c *gardenseedmanagementv1alpha1.GardenletConfig, path *field.Path, template bool) field.ErrorList {
	var errs field.ErrorList
	if c.Deployment != nil {
		errs = append(errs, deployment(c.Deployment, path.Child("deployment"))...)
	}
	bootstrap := gardenseedmanagementv1alpha1.BootstrapNone
	if c.Bootstrap != nil {
		bootstrap = *c.Bootstrap
		errs = append(errs, check.OneOf(bootstrap, path.Child("bootstrap"), gardenseedmanagementv1alpha1.BootstrapToken,
			gardenseedmanagementv1alpha1.BootstrapServiceAccount, gardenseedmanagementv1alpha1.BootstrapNone)...)
	}
	if template && len(c.Config.Raw) == 0 {
		return errs // The default configuration is set when a managed seed is created from the template.
	}
	config, wrong := configuration(c.Config, path.Child("config"))
	if len(wrong) > 0 {
		return append(errs, wrong...)
	}
	of := settings{config: config, bootstrap: bootstrap, merged: c.MergeWithParent != nil && *c.MergeWithParent, template: template}
	return append(errs, of.check(path.Child("config"))...)
}
