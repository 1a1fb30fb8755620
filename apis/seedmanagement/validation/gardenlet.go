// SPDX-License-Identifier: Apache-2.0

package validation

import (
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/terrarium-garden/terrarium/apis/check"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
)

// ValidateGardenlet checks a new Gardenlet (API-RES-5).
func ValidateGardenlet(g *gardenseedmanagementv1alpha1.Gardenlet) field.ErrorList {
	errs := check.Metadata(g, true, apivalidation.NameIsDNSLabel)
	errs = append(errs, inGarden(g.Namespace)...)
	return append(errs, gardenletSpec(g)...)
}

// ValidateGardenletUpdate checks an updated Gardenlet.
func ValidateGardenletUpdate(g, old *gardenseedmanagementv1alpha1.Gardenlet) field.ErrorList {
	errs := check.MetadataUpdate(g, old)
	errs = append(errs, check.Frozen(g, g.Spec, old.Spec)...)
	return append(errs, gardenletSpec(g)...)
}

func gardenletSpec(g *gardenseedmanagementv1alpha1.Gardenlet) field.ErrorList {
	path := field.NewPath("spec")
	errs := deployment(&g.Spec.Deployment.GardenletDeployment, path.Child("deployment"))
	errs = append(errs, repository(&g.Spec.Deployment.Helm.OCIRepository, path.Child("deployment", "helm", "ociRepository"))...)
	if ref := g.Spec.KubeconfigSecretRef; ref != nil {
		errs = append(errs, check.Required(ref.Name, path.Child("kubeconfigSecretRef", "name"), "the Secret with a kubeconfig for the seed")...)
	}
	config, wrong := configuration(g.Spec.Config, path.Child("config"))
	errs = append(errs, wrong...)
	if seed := config.SeedConfig; seed != nil && seed.Name != "" && seed.Name != g.Name {
		errs = append(errs, field.Invalid(path.Child("config", "seedConfig", "metadata", "name"), seed.Name,
			"the seed is named like its Gardenlet"))
	}
	return errs
}
