// SPDX-License-Identifier: Apache-2.0

package validation

import (
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/terrarium-garden/terrarium/apis/check"
	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
)

// ValidateManagedSeed checks a new ManagedSeed (API-VALMS-1, API-NAME-4).
func ValidateManagedSeed(m *gardenseedmanagementv1alpha1.ManagedSeed) field.ErrorList {
	errs := check.Metadata(m, true, apivalidation.NameIsDNSLabel)
	return append(errs, managedSeedSpec(&m.Spec, field.NewPath("spec"), false)...)
}

// ValidateManagedSeedUpdate checks an updated ManagedSeed (API-VALMS-1).
func ValidateManagedSeedUpdate(m, old *gardenseedmanagementv1alpha1.ManagedSeed) field.ErrorList {
	path := field.NewPath("spec")
	errs := check.MetadataUpdate(m, old)
	errs = append(errs, check.Frozen(m, m.Spec, old.Spec)...)
	errs = append(errs, check.Immutable(m.Spec.Shoot, old.Spec.Shoot, path.Child("shoot"))...)
	errs = append(errs, managedSeedUpdate(&m.Spec, &old.Spec, path)...)
	return append(errs, managedSeedSpec(&m.Spec, path, false)...)
}

// managedSeedUpdate checks what a managed seed, or the template of one, can not take back.
func managedSeedUpdate(s, old *gardenseedmanagementv1alpha1.ManagedSeedSpec, path *field.Path) field.ErrorList {
	if s.Gardenlet == nil || old.Gardenlet == nil {
		return nil
	}
	path = path.Child("gardenlet")
	errs := check.Immutable(s.Gardenlet.Bootstrap, old.Gardenlet.Bootstrap, path.Child("bootstrap"))
	return append(errs, check.Immutable(s.Gardenlet.MergeWithParent, old.Gardenlet.MergeWithParent, path.Child("mergeWithParent"))...)
}

// managedSeedSpec checks a managed seed, or the template of one, which names no shoot.
func managedSeedSpec(s *gardenseedmanagementv1alpha1.ManagedSeedSpec, path *field.Path, template bool) field.ErrorList {
	errs := managedSeedShoot(s.Shoot, path.Child("shoot"), template)
	switch {
	case s.Gardenlet == nil && s.SeedTemplate == nil:
		errs = append(errs, field.Required(path.Child("gardenlet"), "must say how the gardenlet of the seed runs"))
	case s.Gardenlet != nil && s.SeedTemplate != nil:
		errs = append(errs, field.Forbidden(path.Child("seedTemplate"), "is for seeds whose gardenlet is somebody else's matter; give either gardenlet or this"))
	case s.Gardenlet != nil:
		errs = append(errs, managedSeedGardenlet(s.Gardenlet, path.Child("gardenlet"))...)
	case s.SeedTemplate.Name != "":
		errs = append(errs, field.Forbidden(path.Child("seedTemplate", "metadata", "name"), "the seed is named like this object"))
	}
	return errs
}

func managedSeedShoot(s *gardenseedmanagementv1alpha1.Shoot, path *field.Path, template bool) field.ErrorList {
	switch {
	case template && s != nil:
		return field.ErrorList{field.Forbidden(path, "a set makes a shoot for each of its managed seeds")}
	case template:
		return nil
	case s == nil:
		return field.ErrorList{field.Required(path, "must name the shoot that becomes a seed")}
	default:
		return check.Required(s.Name, path.Child("name"), "the shoot that becomes a seed")
	}
}

func managedSeedGardenlet(c *gardenseedmanagementv1alpha1.GardenletConfig, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if c.Deployment != nil {
		errs = append(errs, deployment(c.Deployment, path.Child("deployment"))...)
	}
	if c.Bootstrap != nil {
		errs = append(errs, check.OneOf(*c.Bootstrap, path.Child("bootstrap"), gardenseedmanagementv1alpha1.BootstrapToken,
			gardenseedmanagementv1alpha1.BootstrapServiceAccount, gardenseedmanagementv1alpha1.BootstrapNone)...)
	}
	config, wrong := configuration(c.Config, path.Child("config"))
	errs = append(errs, wrong...)
	errs = append(errs, unnamed(config, path.Child("config"))...)
	return append(errs, gardenKubeconfig(c, config, path.Child("config", "gardenClientConnection", "kubeconfig"))...)
}

// gardenKubeconfig checks that a gardenlet gets exactly one access to the garden: by bootstrapping, from the gardenlet
// that looks after its shoot, or by a kubeconfig of its own.
func gardenKubeconfig(
	c *gardenseedmanagementv1alpha1.GardenletConfig, config *gardenconfigv1alpha1.GardenletConfiguration, path *field.Path,
) field.ErrorList {
	given := config.GardenClientConnection != nil && config.GardenClientConnection.Kubeconfig != ""
	bootstraps := c.Bootstrap != nil && *c.Bootstrap != gardenseedmanagementv1alpha1.BootstrapNone
	merges := c.MergeWithParent != nil && *c.MergeWithParent
	switch {
	case bootstraps && given:
		return field.ErrorList{field.Forbidden(path, "a gardenlet that bootstraps gets its own kubeconfig")}
	case !bootstraps && !merges && !given:
		return field.ErrorList{field.Required(path, "must be given to a gardenlet that neither bootstraps nor takes over that of its parent")}
	default:
		return nil
	}
}
