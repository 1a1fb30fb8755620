// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/terrarium-garden/terrarium/apis/check"
	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	corevalidation "github.com/terrarium-garden/terrarium/apis/core/validation"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
)

const (
	minCertificateLife = 10 * time.Minute
	wholePercent       = 100
)

// settings is the configuration of a gardenlet with the settings that accompany it.
type settings struct {
	config *gardenconfigv1alpha1.GardenletConfiguration
	// bootstrap is how the gardenlet gets its first access to the garden.
	bootstrap gardenseedmanagementv1alpha1.Bootstrap
	// merged says that fields without a value are taken from the gardenlet of the shoot.
	merged bool
	// template says that the configuration is that of a set, whose seeds get their names later.
	template bool
}

// check checks the configuration of a gardenlet that runs as this garden says (API-VALMS-1).
func (s settings) check(path *field.Path) field.ErrorList {
	var errs field.ErrorList
	seed := path.Child("seedConfig")
	switch {
	case s.config.SeedConfig == nil && !s.template:
		errs = append(errs, field.Invalid(seed, "", "must describe the seed that the gardenlet registers"))
	case s.config.SeedConfig != nil:
		if s.config.SeedConfig.Name != "" {
			errs = append(errs, field.Forbidden(seed.Child("metadata", "name"), "must be empty: the seed has the name of this object"))
		}
		errs = append(errs, corevalidation.ValidateSeedTemplate(&s.config.SeedConfig.SeedTemplate, seed)...)
	}
	if s.config.LogLevel != "" {
		errs = append(errs, check.OneOf(s.config.LogLevel, path.Child("logLevel"), "debug", "info", "error")...)
	}
	if s.config.LogFormat != "" {
		errs = append(errs, check.OneOf(s.config.LogFormat, path.Child("logFormat"), "json", "text")...)
	}
	for i, handler := range s.config.ExposureClassHandlers {
		for _, message := range validation.IsDNS1123Label(handler.Name) {
			errs = append(errs, field.Invalid(path.Child("exposureClassHandlers").Index(i).Child("name"), handler.Name, message))
		}
	}
	errs = append(errs, reserved(s.config.Resources, path.Child("resources"))...)
	return append(errs, s.garden(path.Child("gardenClientConnection"))...)
}

// garden checks that a gardenlet gets exactly one access to the garden: by bootstrapping, from the gardenlet of its shoot,
// or by its own kubeconfig.
func (s settings) garden(path *field.Path) field.ErrorList {
	c := s.config.GardenClientConnection
	if c == nil {
		return nil
	}
	errs := certificate(c.KubeconfigValidity, path.Child("kubeconfigValidity"))
	switch s.bootstrap {
	case gardenseedmanagementv1alpha1.BootstrapToken, gardenseedmanagementv1alpha1.BootstrapServiceAccount:
		if c.Kubeconfig != "" {
			errs = append(errs, field.Forbidden(path.Child("kubeconfig"), "a gardenlet that bootstraps gets its own kubeconfig"))
		}
	case gardenseedmanagementv1alpha1.BootstrapNone:
		if c.Kubeconfig == "" && !s.merged {
			errs = append(errs, field.Required(path.Child("kubeconfig"), "must be given if the gardenlet neither bootstraps nor uses the access of its parent"))
		}
		if c.BootstrapKubeconfig != nil {
			errs = append(errs, field.Forbidden(path.Child("bootstrapKubeconfig"), "is only for gardenlets that bootstrap"))
		}
		if c.KubeconfigSecret != nil {
			errs = append(errs, field.Forbidden(path.Child("kubeconfigSecret"), "is only for gardenlets that bootstrap"))
		}
	}
	return errs
}

// certificate checks when the certificate of a gardenlet is renewed.
func certificate(v *gardenconfigv1alpha1.KubeconfigValidity, path *field.Path) field.ErrorList {
	if v == nil {
		return nil
	}
	var errs field.ErrorList
	if v.Validity != nil && v.Validity.Duration < minCertificateLife {
		errs = append(errs, field.Invalid(path.Child("validity"), v.Validity.Duration.String(), "must be at least "+minCertificateLife.String()))
	}
	least, most := v.AutoRotationJitterPercentageMin, v.AutoRotationJitterPercentageMax
	if least != nil && *least < 1 {
		errs = append(errs, field.Invalid(path.Child("autoRotationJitterPercentageMin"), *least, "must be at least 1"))
	}
	if most != nil && *most > wholePercent {
		errs = append(errs, field.Invalid(path.Child("autoRotationJitterPercentageMax"), *most, "must be at most 100"))
	}
	if least != nil && most != nil && *least >= *most {
		errs = append(errs, field.Invalid(path.Child("autoRotationJitterPercentageMin"), *least, "must be below autoRotationJitterPercentageMax"))
	}
	return errs
}

// reserved checks that no more is reserved than the capacity.
func reserved(r *gardenconfigv1alpha1.ResourcesConfiguration, path *field.Path) field.ErrorList {
	if r == nil {
		return nil
	}
	var errs field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(r.Reserved)) {
		kept, all := r.Reserved[name], r.Capacity[name]
		here := path.Child("reserved", string(name))
		if _, known := r.Capacity[name]; !known {
			errs = append(errs, field.Invalid(here, kept.String(), "needs a capacity of the same name"))
		} else if kept.Cmp(all) > 0 {
			errs = append(errs, field.Invalid(here, kept.String(), "must not be above the capacity "+all.String()))
		}
	}
	return errs
}

// seedUpdate checks that the immutable fields of a seed do not change in the configuration of its gardenlet either.
func seedUpdate(config, old *gardenconfigv1alpha1.GardenletConfiguration, path *field.Path) field.ErrorList {
	if config.SeedConfig == nil || old.SeedConfig == nil {
		return nil
	}
	return corevalidation.ValidateSeedTemplateUpdate(&config.SeedConfig.SeedTemplate, &old.SeedConfig.SeedTemplate, path.Child("seedConfig"))
}

// operation checks that an operation is known and does not replace another one (API-STRAT-4).
func operation(value, old string, path *field.Path, known ...string) field.ErrorList {
	if value == "" {
		return nil
	}
	errs := check.OneOf(value, path, known...)
	if old != "" && old != value {
		errs = append(errs, field.Forbidden(path, "the operation "+old+" is not done yet; wait for it or remove it first"))
	}
	return errs
}
